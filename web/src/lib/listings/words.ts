// What an application's status and flags say in words. Nothing is said by an icon or a colour alone.
import type { Application, ApplicationState } from '../api';
import { m } from '../i18n';

export interface StatusWord {
  label: string;
  word: string;
  tone: 'good' | 'plain' | 'warn' | 'bad';
}

type Tone = 'plain' | 'accent' | 'good' | 'warn' | 'bad' | 'info';

const STATUSES: Record<string, { word: string; tone: Tone }> = {
  submitted: { word: m.rental_application_submitted(), tone: 'accent' },
  withdrawn: { word: m.rental_application_withdrawn(), tone: 'plain' },
  approved: { word: m.rental_application_approved(), tone: 'good' },
  conditional: { word: m.rental_application_conditional(), tone: 'warn' },
  declined: { word: m.rental_application_declined(), tone: 'bad' },
  closed: { word: m.rental_application_closed(), tone: 'plain' },
};

export function statusWord(status: string): { word: string; tone: Tone } {
  return STATUSES[status] ?? { word: status, tone: 'plain' };
}

/** Whether the owner can see an application of this status. The applicant may have ended the sharing all the same. */
export function isShared(status: string): boolean {
  return status !== 'withdrawn' && status !== 'closed';
}

/** Each flag with the check that it needs. */
const FLAGS = [
  { label: m.rental_field_min_credit(), flag: 'passMinCredit', check: 'softCredit' },
  { label: m.rental_field_pref_credit(), flag: 'passPrefCred', check: 'softCredit' },
  { label: m.rental_field_min_income(), flag: 'passMinIncome', check: 'income' },
  { label: m.rental_field_pref_income(), flag: 'passPrefIncome', check: 'income' },
] as const;

/**
 * The four flags in words. The service says false for a flag that nobody knows, so the words depend on the checks: `not met`
 * needs a complete application.
 */
export function flagWords(state: ApplicationState): StatusWord[] {
  const hasExpired = hasExpiredFlags(state);
  return FLAGS.map(({ label, flag, check }) => {
    if (state.complete && state.expiresAt && !state.flagsWithheld) {
      return state.flags[flag]
        ? { label, word: m.rental_flag_met(), tone: 'good' }
        : { label, word: m.rental_flag_not_met(), tone: 'bad' };
    }
    const isMissing = state.checks.some((found) => found.check === check && found.status === 'missing');
    const expired = hasExpired && !isMissing && !state.flagsWithheld;
    return expired
      ? { label, word: m.rental_flag_expired(), tone: 'warn' }
      : { label, word: m.rental_flag_not_checked(), tone: 'plain' };
  });
}

/** A finding that the flags need has expired, or will on this day: the flags expire at the beginning of that day. */
function hasExpiredFlags({ checks, complete, expiresAt }: ApplicationState): boolean {
  return checks.some(({ status }) => status === 'expired') || (complete && !expiresAt && checks.length > 0);
}

/** Whether there are flags to show: the listing has terms, and the applicant shares the report. */
export function hasFlags({ terms, sharing }: Pick<Application, 'terms' | 'sharing'>): boolean {
  return sharing.active && Boolean(terms);
}

/** Why less is shown than one may expect. `own`: for the applicant, not for the landlord. */
export function withheldHint(
  { flagsWithheld }: Pick<ApplicationState, 'flagsWithheld'>,
  own: boolean,
): string | undefined {
  if (!flagsWithheld) return undefined;
  return own ? m.rental_hint_withheld_own() : m.rental_hint_withheld();
}
