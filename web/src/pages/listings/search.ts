// Search conditions in the URL query: `?q=austin&maxRent=2000&beds=2&area=…`.
import type { ListListingsData } from '$lib/api';
import { money, number } from '$lib/format';

export type Conditions = NonNullable<ListListingsData['query']>;

/** Maps names in the URL query to API parameters. */
const NUMBER_PARAMS = { minRent: 'minRent', maxRent: 'maxRent', beds: 'bedrooms', baths: 'bathrooms' } as const;
export const DEFAULT_RADIUS_KM = 10;
export const RADIUS_OPTIONS_KM = [2, 5, 10, 25, 50, 100];
export const NO_FILTERS = {
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
function parseNumberParam(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)?.trim();
  const value = Number(text);
  return text && Number.isFinite(value) && value >= 0 ? value : undefined;
}

export function parseNumberList(query: URLSearchParams, name: string, count: number): number[] | undefined {
  const parts = query.get(name)?.split(',') ?? [];
  const values = parts.map((part) => (part.trim() === '' ? NaN : Number(part)));
  return values.length === count && values.every(Number.isFinite) ? values : undefined;
}

export function parseConditions(query: URLSearchParams): Conditions {
  const conditions: Conditions = {};
  const term = query.get('q')?.trim();
  if (term) conditions.searchTerm = term;
  for (const [name, apiName] of Object.entries(NUMBER_PARAMS)) {
    const value = parseNumberParam(query, name);
    if (value !== undefined) conditions[apiName as 'minRent'] = value;
  }
  const near = parseNumberList(query, 'near', 2);
  if (near) {
    conditions.near = near.join(',');
    conditions.radiusKm = parseNumberParam(query, 'km') ?? DEFAULT_RADIUS_KM;
  }
  const area = parseNumberList(query, 'area', 4);
  if (area) conditions.bbox = area.join(',');
  return conditions;
}

export interface Chip {
  text: string;
  /** Query parameters that removing the chip clears. */
  clears: Partial<typeof NO_FILTERS>;
}

const rooms = (count: number, kind: string) => `${number(count)} ${kind}${count === 1 ? '' : 's'}`;

/** Builds chips for the active filters. The search term has no chip. */
export function buildChips(conditions: Conditions, currency: string): Chip[] {
  const chips: Chip[] = [];
  const add = (text: string, ...names: (keyof typeof NO_FILTERS)[]) =>
    chips.push({ text, clears: Object.fromEntries(names.map((name) => [name, undefined])) });
  const { minRent, maxRent, bedrooms, bathrooms, radiusKm } = conditions;
  if (minRent !== undefined && maxRent !== undefined)
    add(`${money(minRent, currency)} to ${money(maxRent, currency)}`, 'minRent', 'maxRent');
  else if (minRent !== undefined) add(`From ${money(minRent, currency)}`, 'minRent');
  else if (maxRent !== undefined) add(`Up to ${money(maxRent, currency)}`, 'maxRent');
  if (bedrooms !== undefined) add(bedrooms === 0 ? 'Studio' : rooms(bedrooms, 'bedroom'), 'beds');
  if (bathrooms !== undefined) add(rooms(bathrooms, 'bathroom'), 'baths');
  if (conditions.near) add(`Within ${number(radiusKm ?? DEFAULT_RADIUS_KM)} km`, 'near', 'km');
  if (conditions.bbox) add('In the chosen area', 'area');
  return chips;
}
