// Keeps the figures of verification results in memory until the tab closes. The service returns them only right after a
// verification or on explicit request.
import { verifyRentalRequirements, type VerificationResults } from '$lib/api';

const kept = new Map<string, VerificationResults>();

export const figures = {
  keep(results: VerificationResults): void {
    kept.set(results.Id, results);
  },
  of(id: string): VerificationResults | undefined {
    return kept.get(id);
  },
  /** Requests the figures of an earlier result; this does not query the bureaus. */
  async again(id: string): Promise<VerificationResults> {
    const { verificationResults } = await verifyRentalRequirements({ query: { verifiedId: id }, body: {} });
    this.keep(verificationResults);
    return verificationResults;
  },
};
