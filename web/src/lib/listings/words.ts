// What an application's status and flags say in words. Nothing is said by an icon or a colour alone.
import type { Application, ApplicationState } from '../api';

export interface StatusWord {
  label: string;
  word: string;
  tone: 'good' | 'plain' | 'warn' | 'bad';
}

type Tone = 'plain' | 'accent' | 'good' | 'warn' | 'bad' | 'info';

const STATUSES: Record<string, { word: string; tone: Tone }> = {
  submitted: { word: 'Submitted', tone: 'accent' },
  withdrawn: { word: 'Withdrawn', tone: 'plain' },
  approved: { word: 'Approved', tone: 'good' },
  conditional: { word: 'Approved with conditions', tone: 'warn' },
  declined: { word: 'Declined', tone: 'bad' },
  closed: { word: 'Closed', tone: 'plain' },
};

export function statusWord(status: string): { word: string; tone: Tone } {
  return STATUSES[status] ?? { word: status, tone: 'plain' };
}

/** Whether the applicant still shares checks and flags with the owner. */
export function isShared(status: string): boolean {
  return status !== 'withdrawn' && status !== 'closed';
}

/** Each flag with the check that it needs. */
const FLAGS = [
  { label: 'Minimum credit', flag: 'passMinCredit', check: 'softCredit' },
  { label: 'Preferred credit', flag: 'passPrefCred', check: 'softCredit' },
  { label: 'Minimum income', flag: 'passMinIncome', check: 'income' },
  { label: 'Preferred income', flag: 'passPrefIncome', check: 'income' },
] as const;

/**
 * The four flags in words. The service says false for a flag that nobody knows, so the words depend on the checks: `not met`
 * needs a complete application.
 */
export function flagWords(state: ApplicationState): StatusWord[] {
  const hasExpired = hasExpiredFlags(state);
  return FLAGS.map(({ label, flag, check }) => {
    if (state.complete && state.expiresAt && !state.flagsWithheld) {
      if (state.flags[flag]) return { label, word: 'met', tone: 'good' };
      // A check that the landlord does not require says nothing about the applicant.
      const isRequired = state.checks.some((found) => found.check === check);
      return isRequired ? { label, word: 'not met', tone: 'bad' } : { label, word: 'not checked', tone: 'plain' };
    }
    const isMissing = state.checks.some((found) => found.check === check && found.status === 'missing');
    const expired = hasExpired && !isMissing && !state.flagsWithheld;
    return expired ? { label, word: 'expired', tone: 'warn' } : { label, word: 'not checked', tone: 'plain' };
  });
}

/** A finding that the flags need has expired, or will on this day: the flags expire at the beginning of that day. */
function hasExpiredFlags({ checks, complete, expiresAt }: ApplicationState): boolean {
  return checks.some(({ status }) => status === 'expired') || (complete && !expiresAt && checks.length > 0);
}

/** Whether there are flags to show: the listing has terms, and the application is shared. */
export function hasFlags({ terms, status }: Pick<Application, 'terms' | 'status'>): boolean {
  return isShared(status) && Boolean(terms);
}

/** Why less is shown than one may expect. `own`: for the applicant, not for the landlord. */
export function applicationHints(
  { flagsWithheld, identityChanged }: Pick<ApplicationState, 'flagsWithheld' | 'identityChanged'>,
  own: boolean,
): string[] {
  const [landlord, applicant] = own ? ['the landlord’s account', 'you'] : ['your account', 'this applicant'];
  const whose = own ? 'Your' : 'The applicant’s';
  return [
    flagsWithheld &&
      `The four terms are withheld: ${landlord} has asked about ${applicant} by too many different terms in 30 days.`,
    identityChanged &&
      `${whose} later results are about another name, birth date or social security number. Earlier results no longer count.`,
  ].filter((hint) => hint !== false);
}
