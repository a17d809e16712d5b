// "Do I qualify?": a listing's terms against what is known about the user. Pure functions; nothing is sent anywhere.
import type { Application, ListingTerms, VerificationCheck } from '../api';

const TERMS = [
  { term: 'minCredit', check: 'softCredit', flag: 'passMinCredit' },
  { term: 'prefCredit', check: 'softCredit', flag: 'passPrefCred' },
  { term: 'minIncome', check: 'income', flag: 'passMinIncome' },
  { term: 'prefIncome', check: 'income', flag: 'passPrefIncome' },
] as const;

export type Term = (typeof TERMS)[number]['term'];
type TermCheck = (typeof TERMS)[number]['check'];

/** `unknown`: checked, but the figure is shown to nobody, and no earlier application tells enough. */
export type Answer = 'met' | 'not_met' | 'not_checked' | 'expired' | 'unknown';

/** What is known about a figure: it is at least the one, and below the other. */
export interface Range {
  atLeast: number;
  below: number;
}

export interface Evidence {
  /** The newest finding of each check. */
  checks: readonly VerificationCheck[];
  ranges: Record<TermCheck, Range>;
}

export interface TermAnswer {
  term: Term;
  value: number;
  answer: Answer;
}

/** An answer for each term that the listing has. */
export function qualify(terms: ListingTerms, { checks, ranges }: Evidence, now = new Date()): TermAnswer[] {
  return TERMS.filter(({ term }) => terms[term] > 0).map(({ term, check }) => {
    const value = terms[term];
    const finding = checks.find((found) => found.check === check);
    if (!finding) return { term, value, answer: 'not_checked' };
    if (new Date(finding.expiresAt) <= now) return { term, value, answer: 'expired' };
    return { term, value, answer: compare(value, ranges[check]) };
  });
}

function compare(value: number, { atLeast, below }: Range): Answer {
  if (atLeast >= value) return 'met';
  return below <= value ? 'not_met' : 'unknown';
}

/** What the user's other applications and their own income tell about the two figures. */
export function knownRanges(
  applications: readonly Application[],
  income?: number,
  now = new Date(),
): Evidence['ranges'] {
  const ranges = {
    softCredit: { atLeast: -Infinity, below: Infinity },
    income: income === undefined ? { atLeast: -Infinity, below: Infinity } : exactly(income),
  };
  for (const application of applications.filter((one) => hasValidFlags(one, now))) {
    for (const { term, check, flag } of TERMS) {
      const value = application.terms?.[term] ?? 0;
      const range = ranges[check];
      if (value > 0 && application.flags[flag]) range.atLeast = Math.max(range.atLeast, value);
      // A false flag says something only if the check is required.
      else if (value > 0 && application.checks.some((required) => required.check === check))
        range.below = Math.min(range.below, value);
    }
  }
  return ranges;
}

function exactly(figure: number): Range {
  // Above the figure by less than a cent: no term lies between.
  return { atLeast: figure, below: figure + 0.001 };
}

function hasValidFlags({ complete, expiresAt, flagsWithheld }: Application, now: Date): boolean {
  return complete && !flagsWithheld && expiresAt !== undefined && new Date(expiresAt) > now;
}
