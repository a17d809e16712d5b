// What a landlord's homes add up to. Pure functions.
import type { Applicant } from '../api';
import type { OwnHome } from './homes.svelte';

export const STATUSES = ['active', 'paused', 'rented'] as const;
export type Status = (typeof STATUSES)[number];

const DAY_MS = 86_400_000;
const NEW_DAYS = 7;

export interface HomeApplicant {
  home: OwnHome;
  applicant: Applicant;
}

export type HomeEvent = { at: string; home: OwnHome } & (
  { kind: 'listed' | 'edited' } | { kind: 'applied'; userId: string }
);

export function countByStatus(homes: readonly OwnHome[]): Record<Status, number> {
  const counts = { active: 0, paused: 0, rented: 0 };
  for (const { facts } of homes) if (facts && isStatus(facts.details.status)) counts[facts.details.status] += 1;
  return counts;
}

export function isStatus(text: string): text is Status {
  return (STATUSES as readonly string[]).includes(text);
}

/** Applicants about whom nothing is decided, newest first. */
export function undecided(homes: readonly OwnHome[]): HomeApplicant[] {
  return homes
    .flatMap((home) => (home.facts?.applicants ?? []).map((applicant) => ({ home, applicant })))
    .filter(({ applicant }) => applicant.status === 'submitted')
    .sort((a, b) => compareTimes(b.applicant.appliedAt, a.applicant.appliedAt));
}

/** Every required check is there: only the landlord's decision is missing. The one who waits longest comes first. */
export function decisionsWaiting(homes: readonly OwnHome[]): HomeApplicant[] {
  return undecided(homes)
    .filter(({ applicant }) => applicant.complete)
    .reverse();
}

export function isNew({ applicant }: HomeApplicant, now = new Date()): boolean {
  return now.getTime() - new Date(applicant.appliedAt).getTime() < NEW_DAYS * DAY_MS;
}

/** What happened last to the homes, newest first. Of several edits of a home only the last is known here. */
export function newestEvents(homes: readonly OwnHome[], limit: number): HomeEvent[] {
  const events = homes.flatMap((home): HomeEvent[] => {
    if (!home.facts) return [];
    const { details, applicants } = home.facts;
    const edited: HomeEvent[] = details.version > 1 ? [{ kind: 'edited', at: details.updatedAt, home }] : [];
    const applied = applicants.map(({ appliedAt, userId }): HomeEvent => ({
      kind: 'applied',
      at: appliedAt,
      userId,
      home,
    }));
    return [{ kind: 'listed', at: details.createdAt, home }, ...edited, ...applied];
  });
  return events.sort((a, b) => compareTimes(b.at, a.at)).slice(0, limit);
}

function compareTimes(a: string, b: string): number {
  return new Date(a).getTime() - new Date(b).getTime();
}
