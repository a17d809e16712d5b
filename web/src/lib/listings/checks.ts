// The names of the four checks and of their states, as people read them.
import type { ApplicationCheckState, VerificationCheck } from '../api';
import { LOCALE, m } from '../i18n';
import type { StatusWord } from './words';

export const CHECK_LABELS = {
  eviction: m.rental_check_eviction(),
  income: m.rental_check_income(),
  softCredit: m.rental_check_credit(),
  criminalBackground: m.rental_check_criminal(),
} as const;

export type CheckId = keyof typeof CHECK_LABELS;

export function checkLabel(check: string): string {
  return CHECK_LABELS[check as CheckId] ?? check;
}

/** `eviction and credit`, in the language of the page. */
export function formatChecks(checks: readonly string[]): string {
  return new Intl.ListFormat(LOCALE, { type: 'conjunction' }).format(
    checks.map((check) => checkLabel(check).toLowerCase()),
  );
}

const STATUS_WORDS: Record<string, Omit<StatusWord, 'label'>> = {
  passed: { word: m.rental_check_passed(), tone: 'good' },
  not_passed: { word: m.rental_check_not_passed(), tone: 'bad' },
  missing: { word: m.rental_check_missing(), tone: 'plain' },
  expired: { word: m.rental_check_expired(), tone: 'warn' },
  disputed: { word: m.rental_check_disputed(), tone: 'warn' },
};

/** A required check in words: `Eviction: Not passed`. */
export function checkWord({ check, status }: ApplicationCheckState): StatusWord {
  return { label: checkLabel(check), ...(STATUS_WORDS[status] ?? { word: status, tone: 'plain' }) };
}

/** What a result says about a check at this time. Without a finding nobody has checked it, which is no failure. */
export function findingWord(
  finding: Pick<VerificationCheck, 'outcome' | 'expiresAt'> | undefined,
  now = new Date(),
): Omit<StatusWord, 'label'> {
  const isExpired = finding !== undefined && new Date(finding.expiresAt) <= now;
  const status = !finding ? 'missing' : isExpired ? 'expired' : finding.outcome === 'passed' ? 'passed' : 'not_passed';
  return STATUS_WORDS[status] ?? { word: status, tone: 'plain' };
}

/** Whether the bureau's finding is valid now, whatever it says. */
export function isValid({ status }: ApplicationCheckState): boolean {
  return status === 'passed' || status === 'not_passed' || status === 'disputed';
}

/** The checks that a decision can name: those with a valid finding. */
export function namableChecks(checks: readonly ApplicationCheckState[]): ApplicationCheckState[] {
  return checks.filter(isValid);
}

/** The checks that the applicant has to run, because they are missing or have expired. */
export function checksToRun(checks: readonly ApplicationCheckState[]): ApplicationCheckState[] {
  return checks.filter((check) => !isValid(check));
}
