// Form values of a new listing and their request body. Fields have the names of the request.
import type { RecordListingData } from '$lib/api';

export type Body = RecordListingData['body'];

const NUMBER_FIELDS = [
  'monthlyPayment',
  'propertyValue',
  'minCredit',
  'prefCredit',
  'minIncome',
  'prefIncome',
  'latitude',
  'longitude',
] as const;
const TEXT_FIELDS = ['addressStreet', 'addressCity', 'addressState', 'addressPostal', 'walkthroughLink', 'id'] as const;

export type Values = Record<(typeof NUMBER_FIELDS)[number] | (typeof TEXT_FIELDS)[number], string>;

/** The values of the fields that new and edited listings share. */
export type TermsValues = Pick<Values, 'minCredit' | 'prefCredit' | 'minIncome' | 'prefIncome'>;
export type PlaceValues = Pick<Values, 'latitude' | 'longitude'>;

export function emptyValues(): Values {
  return Object.fromEntries([...TEXT_FIELDS, ...NUMBER_FIELDS].map((name) => [name, ''])) as Values;
}

/** Parses user input such as `1,850.50` and `$1850.5`; NaN if it is empty or not a number. */
export function parseNumber(text: string): number {
  const plain = text.replace(/[\s$€£,_']/g, '');
  return plain === '' ? NaN : Number(plain);
}

/** Reports fields that are not numbers. The service validates everything else. */
export function validateNumbers(values: Values): Record<string, string> {
  const invalid = NUMBER_FIELDS.filter(
    (name) => values[name].trim() !== '' && !Number.isFinite(parseNumber(values[name])),
  );
  return Object.fromEntries(invalid.map((name) => [name, 'Must be a number.']));
}

/** Omits empty fields, so that the service reports missing ones or uses its defaults. */
export function toRequestBody(values: Values, userId: string): Body {
  const body: Record<string, string | number> = { userId };
  for (const name of TEXT_FIELDS) if (values[name].trim() !== '') body[name] = values[name];
  for (const name of NUMBER_FIELDS) if (values[name].trim() !== '') body[name] = parseNumber(values[name]);
  return body as unknown as Body;
}
