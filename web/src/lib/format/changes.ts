// A changed field of a listing or a portfolio, in words.
export interface FieldChangeWords {
  label: string;
  before: string;
  after: string;
}
