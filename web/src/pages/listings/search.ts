// Search conditions in the URL query: `?q=austin&maxRent=2000&beds=2&area=…`.
import type { ListListingsData } from '$lib/api';
import { money, number } from '$lib/format';

export type Conditions = NonNullable<ListListingsData['query']>;

/** Maps names in the URL query to API parameters. */
const NUMBERS = { minRent: 'minRent', maxRent: 'maxRent', beds: 'bedrooms', baths: 'bathrooms' } as const;
export const RADIUS = 10;
export const RADII = [2, 5, 10, 25, 50, 100];
export const CLEARED = {
  q: undefined,
  minRent: undefined,
  maxRent: undefined,
  beds: undefined,
  baths: undefined,
  near: undefined,
  km: undefined,
  area: undefined,
};

/** URLs can be edited by hand, so invalid values are ignored. */
function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)?.trim();
  const value = Number(text);
  return text && Number.isFinite(value) && value >= 0 ? value : undefined;
}

export function numbersIn(query: URLSearchParams, name: string, count: number): number[] | undefined {
  const parts = query.get(name)?.split(',') ?? [];
  const values = parts.map((part) => (part.trim() === '' ? NaN : Number(part)));
  return values.length === count && values.every(Number.isFinite) ? values : undefined;
}

export function conditionsOf(query: URLSearchParams): Conditions {
  const found: Conditions = {};
  const term = query.get('q')?.trim();
  if (term) found.searchTerm = term;
  for (const [name, theirs] of Object.entries(NUMBERS)) {
    const value = numberIn(query, name);
    if (value !== undefined) found[theirs as 'minRent'] = value;
  }
  const near = numbersIn(query, 'near', 2);
  if (near) {
    found.near = near.join(',');
    found.radiusKm = numberIn(query, 'km') ?? RADIUS;
  }
  const area = numbersIn(query, 'area', 4);
  if (area) found.bbox = area.join(',');
  return found;
}

export interface Chip {
  text: string;
  /** Query parameters that removing the chip clears. */
  clears: Partial<typeof CLEARED>;
}

const rooms = (count: number, kind: string) => `${number(count)} ${kind}${count === 1 ? '' : 's'}`;

/** Builds chips for the active filters. The search term has no chip. */
export function chipsOf(found: Conditions, currency: string): Chip[] {
  const chips: Chip[] = [];
  const add = (text: string, ...names: (keyof typeof CLEARED)[]) =>
    chips.push({ text, clears: Object.fromEntries(names.map((name) => [name, undefined])) });
  const { minRent, maxRent, bedrooms, bathrooms, radiusKm } = found;
  if (minRent !== undefined && maxRent !== undefined)
    add(`${money(minRent, currency)} to ${money(maxRent, currency)}`, 'minRent', 'maxRent');
  else if (minRent !== undefined) add(`From ${money(minRent, currency)}`, 'minRent');
  else if (maxRent !== undefined) add(`Up to ${money(maxRent, currency)}`, 'maxRent');
  if (bedrooms !== undefined) add(bedrooms === 0 ? 'Studio' : rooms(bedrooms, 'bedroom'), 'beds');
  if (bathrooms !== undefined) add(rooms(bathrooms, 'bathroom'), 'baths');
  if (found.near) add(`Within ${number(radiusKm ?? RADIUS)} km`, 'near', 'km');
  if (found.bbox) add('In the chosen area', 'area');
  return chips;
}
