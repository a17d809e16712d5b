// The form of a new listing and what is sent of it. Fields are named as in the request.
import type { RecordListingData } from '$lib/api';

export type Body = RecordListingData['body'];

const NUMBERS = [
  'monthlyPayment',
  'propertyValue',
  'minCredit',
  'prefCredit',
  'minIncome',
  'prefIncome',
  'latitude',
  'longitude',
] as const;
const TEXTS = ['addressStreet', 'addressCity', 'addressState', 'addressPostal', 'walkthroughLink', 'id'] as const;

export type Values = Record<(typeof NUMBERS)[number] | (typeof TEXTS)[number], string>;

export function blank(): Values {
  return Object.fromEntries([...TEXTS, ...NUMBERS].map((name) => [name, ''])) as Values;
}

/** `1,850.50` and `$1850.5` are what people type. */
export function numberOf(text: string): number {
  const plain = text.replace(/[\s$€£,_']/g, '');
  return plain === '' ? NaN : Number(plain);
}

/** What is no number at all can be told without asking the service; everything else it knows better. */
export function notNumbers(values: Values): Record<string, string> {
  const wrong = NUMBERS.filter((name) => values[name].trim() !== '' && !Number.isFinite(numberOf(values[name])));
  return Object.fromEntries(wrong.map((name) => [name, 'Must be a number.']));
}

/** Empty fields are left out: the service then says what is missing, or takes its default. */
export function bodyOf(values: Values, userId: string): Body {
  const body: Record<string, string | number> = { userId };
  for (const name of TEXTS) if (values[name].trim() !== '') body[name] = values[name];
  for (const name of NUMBERS) if (values[name].trim() !== '') body[name] = numberOf(values[name]);
  return body as unknown as Body;
}
