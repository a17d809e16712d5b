// The chain knows a listing by the hash of its id, which cannot be turned back. These ids can be recognised: the user's own
// listings, and one that is given.
import { listListings, paged } from '$lib/api';
import { session } from '$lib/session/session.svelte';

const MAX_OWN_LISTINGS = 500;

/** Ids by key. */
export async function loadListingKeys(given: string | undefined, signal: AbortSignal): Promise<Map<string, string>> {
  const { listingKey } = await import('./decode');
  const query = { userId: session.userId, limit: MAX_OWN_LISTINGS };
  const own = session.isSignedIn ? (await paged((fetch) => listListings({ query, signal, fetch }))).items : [];
  const ids = [...own.map(({ listingId }) => listingId), ...(given ? [given] : [])];
  return new Map(ids.map((id) => [listingKey(id), id]));
}
