// The names of the four checks and of their states, as people read them.
import type { ApplicationCheckState } from '../api';
import type { StatusWord } from './words';

export const CHECK_LABELS = {
  eviction: 'Eviction',
  income: 'Income',
  softCredit: 'Credit',
  criminalBackground: 'Criminal background',
} as const;

export type CheckId = keyof typeof CHECK_LABELS;

export function checkLabel(check: string): string {
  return CHECK_LABELS[check as CheckId] ?? check;
}

/** `eviction and credit`, in the user's language. */
export function formatChecks(checks: readonly string[]): string {
  const locale = typeof navigator === 'undefined' ? 'en' : navigator.language;
  return new Intl.ListFormat(locale, { type: 'conjunction' }).format(
    checks.map((check) => checkLabel(check).toLowerCase()),
  );
}

const STATUS_WORDS: Record<string, Omit<StatusWord, 'label'>> = {
  passed: { word: 'Passed', tone: 'good' },
  not_passed: { word: 'Not passed', tone: 'bad' },
  missing: { word: 'Not checked', tone: 'plain' },
  expired: { word: 'Expired', tone: 'warn' },
  disputed: { word: 'Disputed', tone: 'warn' },
};

/** A required check in words: `Eviction: Not passed`. */
export function checkWord({ check, status }: ApplicationCheckState): StatusWord {
  return { label: checkLabel(check), ...(STATUS_WORDS[status] ?? { word: status, tone: 'plain' }) };
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
