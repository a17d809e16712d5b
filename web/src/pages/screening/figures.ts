// Keeps the figures of verification results in memory until the tab closes. The service returns them only right after a
// verification or on explicit request.
import { verifyRentalRequirements, type VerificationResults } from '$lib/api';

const cache = new Map<string, VerificationResults>();

export const figures = {
  keep(results: VerificationResults): void {
    cache.set(results.Id, results);
  },
  get(id: string): VerificationResults | undefined {
    return cache.get(id);
  },
  /** Requests the figures of an earlier result; this does not query the bureaus. */
  async refetch(id: string): Promise<VerificationResults> {
    const { verificationResults } = await verifyRentalRequirements({ query: { verifiedId: id }, body: {} });
    this.keep(verificationResults);
    return verificationResults;
  },
};
