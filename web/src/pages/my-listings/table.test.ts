import { expect, test } from 'vitest';
import type { OwnListing } from '$lib/landlord/own-listings.svelte';
import { applyView, readView, toCsvRows, type View } from './table';

function home(id: string, street: string, rent?: number, facts?: object): OwnListing {
  return {
    listing: {
      listingId: id,
      userId: 'ada',
      streetAddress: street,
      city: 'Austin',
      state: 'TX',
      postalCode: '78701',
      monthlyRent: rent,
    },
    facts: facts && ({ applicants: [], hasMoreApplicants: false, ...facts } as unknown as OwnListing['facts']),
  };
}

const details = (status: string, day: string) => ({ details: { status, createdAt: `2026-05-${day}T00:00:00Z` } });
const applied = (...statuses: string[]) => statuses.map((status) => ({ status }));

const LISTINGS = [
  home('a', '10 Oak Street', 900, { ...details('active', '01'), applicants: applied('submitted', 'withdrawn') }),
  home('b', '9 Elm Road', undefined, details('paused', '03')),
  home('c', '2 Oak Street', 1200, { ...details('rented', '02'), applicants: applied('approved', 'declined') }),
  home('d', '1 Pine Way', 700),
];

const ids = (view: Partial<View>) =>
  applyView(LISTINGS, { search: '', sort: 'newest', ...view }).map(({ listing }) => listing.listingId);

test('every word of the search is somewhere in the address or the id', () => {
  expect(ids({ search: 'oak 78701' })).toEqual(['c', 'a']);
  expect(ids({ search: ' ELM ' })).toEqual(['b']);
  expect(ids({ search: 'oak elm' })).toEqual([]);
});

test('a status leaves out listings whose status is not known yet', () => {
  expect(ids({ status: 'active' })).toEqual(['a']);
  expect(ids({ status: 'paused' })).toEqual(['b']);
});

test('listings are sorted, numbers in addresses as numbers', () => {
  expect(ids({ sort: 'newest' })).toEqual(['b', 'c', 'a', 'd']);
  expect(ids({ sort: 'address' })).toEqual(['d', 'c', 'b', 'a']);
  expect(ids({ sort: 'rent-low' })).toEqual(['d', 'a', 'c', 'b']);
  expect(ids({ sort: 'rent-high' })).toEqual(['c', 'a', 'd', 'b']);
  expect(ids({ sort: 'status' })).toEqual(['a', 'b', 'c', 'd']);
  expect(ids({ sort: 'applicants' })).toEqual(['c', 'a', 'd', 'b']);
});

test('the query is read, and what it does not know is the usual', () => {
  expect(readView(new URLSearchParams('q=oak&status=paused&sort=rent-low'))).toEqual({
    search: 'oak',
    status: 'paused',
    sort: 'rent-low',
  });
  expect(readView(new URLSearchParams('status=sold&sort=constructor'))).toEqual({
    search: '',
    status: undefined,
    sort: 'newest',
  });
});

test('the CSV has a row for each home, and nothing for what is unknown', () => {
  const [header, first, , , last] = toCsvRows(LISTINGS);
  expect(header?.slice(0, 3)).toEqual(['listingId', 'streetAddress', 'city']);
  expect(first?.slice(0, 6)).toEqual(['a', '10 Oak Street', 'Austin', 'TX', '78701', 900]);
  expect(first?.[9]).toBe(1);
  expect(last?.slice(8)).toEqual([undefined, undefined, undefined, undefined, undefined]);
});
