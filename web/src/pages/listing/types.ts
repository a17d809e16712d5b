import type { ListingProof, ListingRequirements, Record } from '$lib/api';

/** A listing's chain record. The proof exists once it is mined; the terms require an API key. */
export interface OnChain {
  record: Record;
  proof?: ListingProof;
  terms?: ListingRequirements;
}
