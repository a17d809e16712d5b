// What the user's own results say. Pure functions.
import type { Verification, VerificationCheck } from '../api';
import { CHECK_LABELS } from '../listings/checks';

/** The newest finding of each check, in the order of the checks. A revoked token takes nothing from a finding. */
export function newestChecks(results: readonly Verification[]): VerificationCheck[] {
  const newest = new Map<string, VerificationCheck>();
  for (const finding of results.flatMap(({ checks }) => checks)) {
    const known = newest.get(finding.check);
    if (!known || new Date(known.finishedAt) < new Date(finding.finishedAt)) newest.set(finding.check, finding);
  }
  const order = Object.keys(CHECK_LABELS);
  return [...newest.values()].sort((a, b) => order.indexOf(a.check) - order.indexOf(b.check));
}
