// Form values of a new listing and their request body. Fields have the names of the request.
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

/** Parses user input such as `1,850.50` and `$1850.5`; NaN if it is empty or not a number. */
export function numberOf(text: string): number {
  const plain = text.replace(/[\s$€£,_']/g, '');
  return plain === '' ? NaN : Number(plain);
}

/** Reports fields that are not numbers. The service validates everything else. */
export function notNumbers(values: Values): Record<string, string> {
  const wrong = NUMBERS.filter((name) => values[name].trim() !== '' && !Number.isFinite(numberOf(values[name])));
  return Object.fromEntries(wrong.map((name) => [name, 'Must be a number.']));
}

/** Omits empty fields, so that the service reports missing ones or uses its defaults. */
export function bodyOf(values: Values, userId: string): Body {
  const body: Record<string, string | number> = { userId };
  for (const name of TEXTS) if (values[name].trim() !== '') body[name] = values[name];
  for (const name of NUMBERS) if (values[name].trim() !== '') body[name] = numberOf(values[name]);
  return body as unknown as Body;
}
