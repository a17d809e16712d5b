// Search, filter and order of the landlord's listings, and their CSV. Pure functions.
import { isStatus, type Status } from '$lib/landlord/figures';
import type { OwnListing } from '$lib/landlord/own-listings.svelte';
import type { Cell } from '$lib/files/csv';
import { LOCALE } from '$lib/i18n';

export const SORTS = ['newest', 'address', 'rent-low', 'rent-high', 'status', 'applicants'] as const;
export type Sort = (typeof SORTS)[number];

export interface View {
  /** Text in the address or the id, in any case. */
  search: string;
  status?: Status;
  sort: Sort;
}

export function readView(query: URLSearchParams): View {
  const [status, sort] = [query.get('status') ?? '', query.get('sort') ?? ''];
  return {
    search: query.get('q') ?? '',
    status: isStatus(status) ? status : undefined,
    sort: SORTS.find((known) => known === sort) ?? 'newest',
  };
}

export function applyView(listings: readonly OwnListing[], { search, status, sort }: View): OwnListing[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = listings.filter((home) => {
    const text = searchedText(home);
    return (!status || home.facts?.details.status === status) && words.every((word) => text.includes(word));
  });
  return found.sort(COMPARE[sort]);
}

function searchedText({ listing: { streetAddress, city, state, postalCode, listingId } }: OwnListing): string {
  return [streetAddress, city, state, postalCode, listingId].join(' ').toLowerCase();
}

const collator = new Intl.Collator(LOCALE, { numeric: true });
const byAddress = (a: OwnListing, b: OwnListing) => collator.compare(a.listing.streetAddress, b.listing.streetAddress);
const created = ({ facts }: OwnListing) => (facts ? new Date(facts.details.createdAt).getTime() : 0);
const STATUS_ORDER: Record<string, number> = { active: 0, paused: 1, rented: 2 };
const statusRank = ({ facts }: OwnListing) => STATUS_ORDER[facts?.details.status ?? ''] ?? 3;

/** A home without a rent comes last, whichever way. */
const rentOf = ({ listing }: OwnListing, ifNone: number) => listing.monthlyRent ?? ifNone;

const COMPARE: Record<Sort, (a: OwnListing, b: OwnListing) => number> = {
  newest: (a, b) => created(b) - created(a),
  address: byAddress,
  'rent-low': (a, b) => rentOf(a, Infinity) - rentOf(b, Infinity) || byAddress(a, b),
  'rent-high': (a, b) => rentOf(b, -1) - rentOf(a, -1) || byAddress(a, b),
  status: (a, b) => statusRank(a) - statusRank(b) || byAddress(a, b),
  applicants: (a, b) => countApplicants(b) - countApplicants(a) || byAddress(a, b),
};

/** Who has not withdrawn. */
export function countApplicants({ facts }: OwnListing): number {
  return facts?.applicants.filter(({ status }) => status !== 'withdrawn').length ?? 0;
}

/** The fields of the API under their names there, so that a program can read them too. */
const CSV_COLUMNS: readonly (readonly [string, (home: OwnListing) => Cell])[] = [
  ['listingId', ({ listing }) => listing.listingId],
  ['streetAddress', ({ listing }) => listing.streetAddress],
  ['city', ({ listing }) => listing.city],
  ['state', ({ listing }) => listing.state],
  ['postalCode', ({ listing }) => listing.postalCode],
  ['monthlyRent', ({ listing }) => listing.monthlyRent],
  ['bedRoomCount', ({ listing }) => listing.bedRoomCount],
  ['bathroomCount', ({ listing }) => listing.bathroomCount],
  ['status', ({ facts }) => facts?.details.status],
  ['applicants', (home) => (home.facts ? countApplicants(home) : undefined)],
  ['onChain', ({ facts }) => facts && String(facts.details.onChain)],
  ['createdAt', ({ facts }) => facts?.details.createdAt],
  ['updatedAt', ({ facts }) => facts?.details.updatedAt],
];

export function toCsvRows(listings: readonly OwnListing[]): Cell[][] {
  return [CSV_COLUMNS.map(([name]) => name), ...listings.map((home) => CSV_COLUMNS.map(([, cell]) => cell(home)))];
}
