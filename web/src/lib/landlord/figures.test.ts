import { expect, test } from 'vitest';
import type { Applicant, ListingDetails } from '../api';
import { countByStatus, decisionsWaiting, isNew, newestEvents, undecided } from './figures';
import type { OwnListing } from './own-listings.svelte';

const NOW = new Date('2026-05-20T12:00:00Z');
const on = (day: string) => `2026-05-${day}T08:00:00Z`;

function home(id: string, applicants: object[] = [], details: object = {}): OwnListing {
  return {
    listing: { listingId: id } as OwnListing['listing'],
    facts: {
      details: { status: 'active', version: 1, createdAt: on('01'), updatedAt: on('01'), ...details } as ListingDetails,
      etag: '"1"',
      applicants: applicants as Applicant[],
      hasMoreApplicants: false,
    },
  };
}

const applicant = (userId: string, day: string, more: object = {}) => ({
  userId,
  appliedAt: on(day),
  status: 'submitted',
  complete: false,
  ...more,
});

test('listings are counted by their status, and unknown ones are not', () => {
  const listings = [home('a'), home('b', [], { status: 'paused' }), home('c'), { listing: home('d').listing }];
  expect(countByStatus(listings)).toEqual({ active: 2, paused: 1, rented: 0 });
});

test('a decision waits for complete applications alone, the oldest first', () => {
  const listings = [
    home('a', [applicant('late', '12', { complete: true }), applicant('incomplete', '10')]),
    home('b', [applicant('early', '11', { complete: true }), applicant('gone', '09', { status: 'withdrawn' })]),
    home('c', [applicant('done', '08', { status: 'approved', complete: true })]),
  ];
  expect(undecided(listings).map((it) => it.applicant.userId)).toEqual(['late', 'early', 'incomplete']);
  expect(decisionsWaiting(listings).map((it) => it.applicant.userId)).toEqual(['early', 'late']);
});

test('an applicant is new for a week', () => {
  const [young, old] = undecided([home('a', [applicant('young', '14'), applicant('old', '13')])]);
  expect(young && isNew(young, NOW)).toBe(true);
  expect(old && isNew(old, NOW)).toBe(false);
});

test('events of all listings are in one list, newest first', () => {
  const listings = [
    home('a', [applicant('ben', '10')], { version: 3, updatedAt: on('11') }),
    home('b', [], { createdAt: on('12'), updatedAt: on('12') }),
  ];
  expect(newestEvents(listings, 3).map(({ kind, own }) => `${kind} ${own.listing.listingId}`)).toEqual([
    'listed b',
    'edited a',
    'applied a',
  ]);
  expect(newestEvents(listings, 10)).toHaveLength(4);
});
