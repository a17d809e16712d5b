// Search conditions and order in the URL query: `?q=austin&maxRent=2000&beds=2&area=…&sort=rent`.
import type { ListListingsData } from '$lib/api';
import { money, number } from '$lib/format';
import { m } from '$lib/i18n';

type Query = NonNullable<ListListingsData['query']>;
export type Order = NonNullable<Query['sort']>;
export type Conditions = Omit<Query, 'sort' | 'limit' | 'cursor'>;

/** Maps names in the URL query to API parameters. */
const NUMBER_PARAMS = {
  minRent: 'minRent',
  maxRent: 'maxRent',
  beds: 'bedrooms',
  minBeds: 'minBedrooms',
  baths: 'bathrooms',
} as const;
export const ORDERS: readonly Order[] = ['newest', 'rent', 'size'];
export const DEFAULT_RADIUS_KM = 10;
export const RADIUS_OPTIONS_KM = [2, 5, 10, 25, 50, 100];
export const NO_FILTERS = {
  q: undefined,
  minRent: undefined,
  maxRent: undefined,
  beds: undefined,
  minBeds: undefined,
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

/** The newest first, unless the query names another order. */
export function parseOrder(query: URLSearchParams): Order {
  return ORDERS.find((order) => order === query.get('sort')) ?? 'newest';
}

export interface Chip {
  text: string;
  /** Query parameters that removing the chip clears. */
  clears: Partial<typeof NO_FILTERS>;
}

/** Builds chips for the active filters. The search term has no chip. */
export function buildChips(conditions: Conditions, currency: string): Chip[] {
  const chips: Chip[] = [];
  const add = (text: string, ...names: (keyof typeof NO_FILTERS)[]) =>
    chips.push({ text, clears: Object.fromEntries(names.map((name) => [name, undefined])) });
  const { minRent, maxRent, bedrooms, minBedrooms, bathrooms, radiusKm } = conditions;
  if (minRent !== undefined && maxRent !== undefined)
    add(m.listings_chip_rent({ min: money(minRent, currency), max: money(maxRent, currency) }), 'minRent', 'maxRent');
  else if (minRent !== undefined) add(m.listings_chip_rent_from({ min: money(minRent, currency) }), 'minRent');
  else if (maxRent !== undefined) add(m.listings_chip_rent_to({ max: money(maxRent, currency) }), 'maxRent');
  const bedroomsText = (count: number) => m.listings_bedrooms({ count, n: number(count) });
  if (bedrooms !== undefined) add(bedrooms === 0 ? m.common_studio() : bedroomsText(bedrooms), 'beds');
  if (minBedrooms !== undefined)
    add(m.listings_chip_bedrooms_from({ count: minBedrooms, n: number(minBedrooms) }), 'minBeds');
  if (bathrooms !== undefined) add(m.listings_bathrooms({ count: bathrooms, n: number(bathrooms) }), 'baths');
  if (conditions.near) add(m.listings_chip_near({ n: number(radiusKm ?? DEFAULT_RADIUS_KM) }), 'near', 'km');
  if (conditions.bbox) add(m.listings_chip_area(), 'area');
  return chips;
}
