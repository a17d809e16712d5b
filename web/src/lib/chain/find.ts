// Turns what somebody looks for on the chain into the page that shows it.
import { listListingRecords, listListings } from '$lib/api';
import { m } from '$lib/i18n';
import { href } from '$lib/router/router.svelte';
import type { ChainQuery } from './query';

/** The page of what needs no request. */
export function pageOf(query: Exclude<ChainQuery, { kind: 'listing' }>): string {
  if (query.kind === 'hash') return href('/chain/transactions/:hash', { hash: query.hash });
  if (query.kind === 'block') return href('/chain/blocks/:number', { number: String(query.number) });
  return href('/chain/addresses/:address', { address: query.address });
}

/** The transaction that recorded a listing. Throws an Error that says why there is none. */
export async function pageOfListingRecord(id: string): Promise<string> {
  // For a listing that does not exist the records are a 404, which the browser logs.
  const [listing] = await listListings({ query: { listingId: id } });
  if (!listing) throw new Error(m.developer_no_listing({ id }));
  const [record] = await listListingRecords({ path: { id } });
  if (!record) throw new Error(m.developer_listing_off_chain());
  if (!record.transactionHash) throw new Error(m.developer_listing_waits());
  return href('/chain/transactions/:hash', { hash: record.transactionHash }, { listing: id });
}
