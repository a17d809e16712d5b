// Finds the verification result that has the finding of an application's check.
import type { ApplicationCheckState, Verification } from '$lib/api';

/** The newest result that has this finding. One finding may be part of several results. */
export function resultOfFinding(
  results: readonly Verification[],
  { check, expiresAt }: ApplicationCheckState,
): Verification | undefined {
  const hasFinding = ({ checks }: Verification) =>
    checks.some((found) => found.check === check && found.expiresAt === expiresAt);
  return results.findLast(hasFinding);
}
