// Form values of an edited listing, and the fields that changed. Fields have the names of the request.
import type { EditListingData, ListingDetails } from '$lib/api';
import { parseNumber } from '../my-listings/body';

export type Changes = EditListingData['body'];

/** Fields that a listing always has. */
const REQUIRED_TEXTS = ['streetAddress', 'city', 'state', 'postalCode', 'country', 'status'] as const;
/** Fields that can be cleared. */
const OPTIONAL_TEXTS = ['walkthroughLink', 'description', 'availableFrom'] as const;
const OPTIONAL_NUMBERS = ['monthlyRent', 'propertyValue', 'bedRoomCount', 'bathroomCount'] as const;
const PLACE = ['latitude', 'longitude'] as const;
export const TERMS = ['minCredit', 'prefCredit', 'minIncome', 'prefIncome'] as const;
const NUMBERS = [...OPTIONAL_NUMBERS, ...PLACE, ...TERMS] as const;

export type Values = Record<
  (typeof REQUIRED_TEXTS)[number] | (typeof OPTIONAL_TEXTS)[number] | (typeof NUMBERS)[number],
  string
>;

/** The terms are nested in the request, but not in the form. */
export const ALIASES = Object.fromEntries(TERMS.map((name) => [`terms/${name}`, name]));

export function toValues(listing: ListingDetails): Values {
  const texts = [...REQUIRED_TEXTS, ...OPTIONAL_TEXTS].map((name) => [name, listing[name] ?? '']);
  const numbers = [...OPTIONAL_NUMBERS, ...PLACE].map((name) => [name, String(listing[name] ?? '')]);
  // 0 is the same as no requirement.
  const terms = TERMS.map((name) => [name, String(listing.terms?.[name] || '')]);
  return Object.fromEntries([...texts, ...numbers, ...terms]) as Values;
}

/** The names of the fields whose value differs. */
export function changedNames(before: Values, after: Values): (keyof Values)[] {
  const isNumber = (name: string) => (NUMBERS as readonly string[]).includes(name);
  const differs = (name: keyof Values) =>
    isNumber(name) ? !isSameNumber(before[name], after[name]) : toLine(before[name]) !== toLine(after[name]);
  return (Object.keys(before) as (keyof Values)[]).filter(differs);
}

/** The request: only what changed. Null clears a field; the place and the terms are sent whole. */
export function toChanges(before: Values, after: Values): Changes {
  const names = changedNames(before, after);
  const body: Record<string, unknown> = {};
  for (const name of names) {
    if (isOneOf(REQUIRED_TEXTS, name)) body[name] = toLine(after[name]);
    else if (isOneOf(OPTIONAL_TEXTS, name)) body[name] = toLine(after[name]) || null;
    else if (isOneOf(OPTIONAL_NUMBERS, name)) body[name] = toNumber(after[name]);
  }
  if (PLACE.some((name) => names.includes(name))) for (const name of PLACE) body[name] = toNumber(after[name]);
  if (TERMS.some((name) => names.includes(name))) {
    const given = TERMS.filter((name) => after[name].trim() !== '');
    body.terms = Object.fromEntries(given.map((name) => [name, parseNumber(after[name])]));
  }
  return body as Changes;
}

/** Reports fields that are not numbers, and half a place. The service validates everything else. */
export function validateValues(values: Values): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const name of NUMBERS)
    if (values[name].trim() !== '' && !Number.isFinite(parseNumber(values[name]))) errors[name] = 'Must be a number.';
  const [first, second] = PLACE.map((name) => values[name].trim() === '');
  if (first !== second) errors[first ? 'latitude' : 'longitude'] ??= 'Latitude and longitude belong together.';
  return errors;
}

/** One line: the service takes no line breaks. */
export function toLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ').trim();
}

function toNumber(text: string): number | null {
  return text.trim() === '' ? null : parseNumber(text);
}

function isSameNumber(one: string, two: string): boolean {
  return one.trim() === two.trim() || parseNumber(one) === parseNumber(two);
}

function isOneOf<T extends string>(names: readonly T[], name: string): name is T {
  return (names as readonly string[]).includes(name);
}
