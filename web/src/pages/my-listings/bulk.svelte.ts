// Pauses or activates several listings, with progress and what came of each.
import { editListing, tagged, type ListingDetails, type Tagged } from '$lib/api';
import type { OwnListing } from '$lib/landlord/own-listings.svelte';
import { oneByOne } from '$lib/state/one-by-one';

export type Target = 'active' | 'paused';

export interface BulkResult {
  id: string;
  street: string;
  /** `kept`: it had the status already, or it is rented. */
  outcome: 'done' | 'kept' | 'failed';
  error?: unknown;
}

/** Only the other one of the two is changed: a rented home stays rented. */
export function isChangeable({ facts }: OwnListing, target: Target): boolean {
  return facts?.details.status === (target === 'active' ? 'paused' : 'active');
}

export class BulkChange {
  target = $state.raw<Target>();
  total = $state(0);
  results = $state.raw<BulkResult[]>([]);
  isRunning = $state(false);

  count(outcome: BulkResult['outcome']): number {
    return this.results.filter((result) => result.outcome === outcome).length;
  }

  async run(
    listings: readonly OwnListing[],
    target: Target,
    onchange: (changed: Tagged<ListingDetails>) => void,
  ): Promise<void> {
    this.target = target;
    this.total = listings.length;
    this.isRunning = true;
    const row = ({ listing: { listingId: id, streetAddress: street } }: OwnListing) => ({ id, street });
    const kept = listings.filter((home) => !isChangeable(home, target));
    this.results = kept.map((home) => ({ ...row(home), outcome: 'kept' }));
    await oneByOne(
      listings.filter((home) => isChangeable(home, target)),
      ({ listing, facts }) => {
        const path = { id: listing.listingId };
        // Somebody may have changed the home since it was loaded: rented it, for example.
        const headers = { 'If-Match': facts?.etag };
        return tagged((fetch) => editListing({ path, body: { status: target }, headers, fetch }));
      },
      (home, outcome) => {
        if (outcome.ok) onchange(outcome.value);
        const result: BulkResult = outcome.ok
          ? { ...row(home), outcome: 'done' }
          : { ...row(home), outcome: 'failed', error: outcome.error };
        this.results = [...this.results, result];
      },
    );
    this.isRunning = false;
  }

  clear(): void {
    this.target = undefined;
    this.results = [];
  }
}
