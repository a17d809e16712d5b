// The figures of results are shown once by the service, to those who just verified. Here they stay until the tab
// closes, and nowhere else.
import { verifyRentalRequirements, type VerificationResults } from '$lib/api';

const kept = new Map<string, VerificationResults>();

export const figures = {
  keep(results: VerificationResults): void {
    kept.set(results.Id, results);
  },
  of(id: string): VerificationResults | undefined {
    return kept.get(id);
  },
  /** Asks for those of an earlier result again; no bureau hears of it. */
  async again(id: string): Promise<VerificationResults> {
    const { verificationResults } = await verifyRentalRequirements({ query: { verifiedId: id }, body: {} });
    this.keep(verificationResults);
    return verificationResults;
  },
};
