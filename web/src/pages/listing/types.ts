import type { ListingProof, ListingRequirements } from '$lib/api';

/** What the chain says of a listing; the terms only to those who have a key. */
export interface ChainRecord {
  proof: ListingProof;
  terms: ListingRequirements | undefined;
}
