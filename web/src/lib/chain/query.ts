// What somebody looks for on the chain: a transaction, a block, an address or a listing.
export type ChainQuery =
  | { kind: 'hash'; hash: string }
  | { kind: 'block'; number: number }
  | { kind: 'address'; address: string }
  | { kind: 'listing'; id: string };

export const isHash = (text: string) => /^0x[0-9a-f]{64}$/i.test(text);
export const isAddress = (text: string) => /^0x[0-9a-f]{40}$/i.test(text);
export const isBlockNumber = (text: string) => /^[0-9]{1,15}$/.test(text);

/** Limit of the API. */
const MAX_ID_LENGTH = 255;

/** Everything that the text can mean, the likeliest first: a listing's id can look like anything. */
export function readQuery(text: string): ChainQuery[] {
  const query = text.trim();
  if (query === '' || [...query].length > MAX_ID_LENGTH) return [];
  const found: ChainQuery[] = [];
  if (isHash(query)) found.push({ kind: 'hash', hash: query.toLowerCase() });
  if (isAddress(query)) found.push({ kind: 'address', address: query.toLowerCase() });
  if (isBlockNumber(query)) found.push({ kind: 'block', number: Number(query) });
  found.push({ kind: 'listing', id: query });
  return found;
}
