import type { ListingProof, ListingRequirements, Record } from '$lib/api';

/** What the chain says of a listing, once its record is mined; the terms only to those who have a key. */
export interface OnChain {
  record: Record;
  proof?: ListingProof;
  terms?: ListingRequirements;
}
