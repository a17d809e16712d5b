// Form values of an edited listing, and the fields that changed. Fields have the names of the request.
import type { EditListingData, ListingDetails } from '$lib/api';
import { readDegrees, readNumber, toInput, valueOf } from '$lib/format/read-number';
import { fieldLabel, formatValue } from '$lib/listings/history';
import {
  checkAddress,
  checkLink,
  checkNumber,
  checkPlace,
  checkRequired,
  checkTerms,
  NUMBER_RULES,
} from '$lib/listings/rules';

export type Changes = EditListingData['body'];

/** Fields that a listing always has. */
const REQUIRED_TEXTS = ['streetAddress', 'city', 'state', 'postalCode', 'country', 'status'] as const;
const REQUIRED = ['streetAddress', 'city', 'state', 'postalCode', 'country'] as const;
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
  const text = (value: number | undefined) => (value === undefined ? '' : toInput(value));
  const numbers = [...OPTIONAL_NUMBERS, ...PLACE].map((name) => [name, text(listing[name])]);
  // 0 is the same as no requirement.
  const terms = TERMS.map((name) => [name, text(listing.terms?.[name] || undefined)]);
  return Object.fromEntries([...texts, ...numbers, ...terms]) as Values;
}

/** The names of the fields whose value differs. */
export function changedNames(before: Values, after: Values): (keyof Values)[] {
  const isNumber = (name: string) => (NUMBERS as readonly string[]).includes(name);
  const differs = (name: keyof Values) =>
    isNumber(name) ? !isSameNumber(name, before[name], after[name]) : toLine(before[name]) !== toLine(after[name]);
  return (Object.keys(before) as (keyof Values)[]).filter(differs);
}

/** The request: only what changed. Null clears a field; the place and the terms are sent whole. */
export function toChanges(before: Values, after: Values): Changes {
  const names = changedNames(before, after);
  const body: Record<string, unknown> = {};
  for (const name of names) {
    if (isOneOf(REQUIRED_TEXTS, name)) body[name] = toLine(after[name]);
    else if (isOneOf(OPTIONAL_TEXTS, name)) body[name] = toLine(after[name]) || null;
    else if (isOneOf(OPTIONAL_NUMBERS, name)) body[name] = toNumber(name, after[name]);
  }
  if (PLACE.some((name) => names.includes(name))) for (const name of PLACE) body[name] = toNumber(name, after[name]);
  if (TERMS.some((name) => names.includes(name)))
    body.terms = Object.fromEntries(TERMS.map((name) => [name, toNumber(name, after[name])]));
  return body as Changes;
}

/** All faults, by field. An address that was accepted before stays as it is. */
export function validateValues(values: Values, before?: Values): Record<string, string> {
  const errors: Record<string, string> = {};
  checkRequired(errors, values, REQUIRED);
  const { country } = values;
  const changed = (name: 'state' | 'postalCode') => (values[name] === before?.[name] ? '' : values[name]);
  checkAddress(
    errors,
    { country, state: changed('state'), postalCode: changed('postalCode') },
    { state: 'state', postalCode: 'postalCode' },
  );
  checkNumber(errors, values, NUMBER_RULES.rent('monthlyRent'));
  for (const rule of [NUMBER_RULES.value, NUMBER_RULES.bedrooms, NUMBER_RULES.bathrooms])
    checkNumber(errors, values, rule);
  checkTerms(errors, values);
  checkPlace(errors, values);
  checkLink(errors, 'walkthroughLink', values.walkthroughLink);
  return errors;
}

/** Each change as it was understood: `$1,850.00 → $1,900.50`. */
export function summarizeChanges(before: Values, after: Values, currency: string): { label: string; value: string }[] {
  const shown = (name: keyof Values, values: Values) => {
    const value = isOneOf(NUMBERS, name) ? toNumber(name, values[name]) : toLine(values[name]);
    return formatValue(name, value, currency, { exact: true });
  };
  return changedNames(before, after).map((name) => ({
    label: fieldLabel(name),
    value: `${shown(name, before)} → ${shown(name, after)}`,
  }));
}

/** One line: the service takes no line breaks. */
export function toLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ').trim();
}

function toNumber(name: string, text: string): number | null {
  if (text.trim() === '') return null;
  return valueOf((isOneOf(PLACE, name) ? readDegrees : readNumber)(text));
}

function isSameNumber(name: string, one: string, two: string): boolean {
  return one.trim() === two.trim() || toNumber(name, one) === toNumber(name, two);
}

function isOneOf<T extends string>(names: readonly T[], name: string): name is T {
  return (names as readonly string[]).includes(name);
}
