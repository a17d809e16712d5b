// What the service's answer to "Do I qualify?" means for the user. Pure functions.
import type { Qualification, QualificationTerm } from '$lib/api';
import { checksToRun, isValid } from '$lib/listings/checks';

/**
 * `below`: a minimum is not met. `failed`: a required check is not passed. `unknown`: something has to be checked first.
 * `nothing`: the listing asks for nothing.
 */
export type Conclusion = 'nothing' | 'below' | 'failed' | 'unknown' | 'yes';

/** A term of 0 asks for nothing. */
export function askedTerms({ terms }: Qualification): QualificationTerm[] {
  return terms.filter(({ value }) => value > 0);
}

export function needsVerification(answer: Qualification): boolean {
  const isOpen = askedTerms(answer).some(({ status }) => status === 'not_checked');
  return isOpen || checksToRun(answer.checks).length > 0;
}

/** What is certain comes before what is open. */
export function conclude(answer: Qualification): Conclusion {
  const terms = askedTerms(answer);
  if (terms.length === 0 && answer.checks.length === 0) return 'nothing';
  if (terms.some(({ term, status }) => term.startsWith('min') && status === 'not_met')) return 'below';
  if (answer.checks.some((check) => isValid(check) && check.status !== 'passed')) return 'failed';
  return needsVerification(answer) ? 'unknown' : 'yes';
}

/** Until when the answer holds: the first of the required findings to expire. Undefined if one is missing. */
export function validUntil(answer: Qualification): string | undefined {
  if (needsVerification(answer)) return undefined;
  const times = answer.checks.map(({ expiresAt }) => expiresAt).filter((time) => typeof time === 'string');
  return times.sort((a, b) => new Date(a).getTime() - new Date(b).getTime())[0];
}
