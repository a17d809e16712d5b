// The chain knows a listing by the hash of its id, which cannot be turned back. These ids can be recognised: the user's own
// listings, and one that is given.
import { listListings, paged } from '$lib/api';
import { session } from '$lib/session/session.svelte';

const MAX_OWN_LISTINGS = 500;

export interface KnownListing {
  id: string;
  isOwn: boolean;
}

/** Listings by key. */
export type KnownListings = ReadonlyMap<string, KnownListing>;

export async function loadKnownListings(given: string | undefined, signal: AbortSignal): Promise<KnownListings> {
  const { listingKey } = await import('./decode');
  const query = { userId: session.userId, limit: MAX_OWN_LISTINGS };
  const own = session.isSignedIn ? (await paged((fetch) => listListings({ query, signal, fetch }))).items : [];
  const known = [
    ...(given ? [{ id: given, isOwn: false }] : []),
    ...own.map(({ listingId }) => ({ id: listingId, isOwn: true })),
  ];
  return new Map(known.map((listing) => [listingKey(listing.id), listing]));
}
