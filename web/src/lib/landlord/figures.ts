// What a landlord's listings add up to. Pure functions.
import type { Applicant } from '../api';
import type { OwnListing } from './own-listings.svelte';

export const STATUSES = ['active', 'paused', 'rented'] as const;
export type Status = (typeof STATUSES)[number];

const DAY_MS = 86_400_000;
const NEW_DAYS = 7;

export interface ListingApplicant {
  own: OwnListing;
  applicant: Applicant;
}

export type ListingEvent = { at: string; own: OwnListing } & (
  { kind: 'listed' | 'edited' } | { kind: 'applied'; userId: string }
);

export function countByStatus(listings: readonly OwnListing[]): Record<Status, number> {
  const counts = { active: 0, paused: 0, rented: 0 };
  for (const { facts } of listings) if (facts && isStatus(facts.details.status)) counts[facts.details.status] += 1;
  return counts;
}

export function isStatus(text: string): text is Status {
  return (STATUSES as readonly string[]).includes(text);
}

/** Applicants about whom nothing is decided, newest first. */
export function undecided(listings: readonly OwnListing[]): ListingApplicant[] {
  return listings
    .flatMap((own) => (own.facts?.applicants ?? []).map((applicant) => ({ own, applicant })))
    .filter(({ applicant }) => applicant.status === 'submitted')
    .sort((a, b) => compareTimes(b.applicant.appliedAt, a.applicant.appliedAt));
}

/** Every required check is there: only the landlord's decision is missing. The one who waits longest comes first. */
export function decisionsWaiting(listings: readonly OwnListing[]): ListingApplicant[] {
  return undecided(listings)
    .filter(({ applicant }) => applicant.complete)
    .reverse();
}

export function isNew({ applicant }: ListingApplicant, now = new Date()): boolean {
  return now.getTime() - new Date(applicant.appliedAt).getTime() < NEW_DAYS * DAY_MS;
}

/** What happened last to the listings, newest first. Of several edits of one listing only the last is known here. */
export function newestEvents(listings: readonly OwnListing[], limit: number): ListingEvent[] {
  const events = listings.flatMap((own): ListingEvent[] => {
    if (!own.facts) return [];
    const { details, applicants } = own.facts;
    const edited: ListingEvent[] = details.version > 1 ? [{ kind: 'edited', at: details.updatedAt, own }] : [];
    const applied = applicants.map(({ appliedAt, userId }): ListingEvent => ({
      kind: 'applied',
      at: appliedAt,
      userId,
      own,
    }));
    return [{ kind: 'listed', at: details.createdAt, own }, ...edited, ...applied];
  });
  return events.sort((a, b) => compareTimes(b.at, a.at)).slice(0, limit);
}

function compareTimes(a: string, b: string): number {
  return new Date(a).getTime() - new Date(b).getTime();
}
