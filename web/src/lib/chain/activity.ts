// Transactions of an address in recent blocks. The service keeps no index by address, so the newest blocks are searched.
import { getTransaction, listBlocks, type Transaction } from '$lib/api';

/** Each is a request of its own. */
const MAX_TRANSACTIONS = 40;
const MAX_BLOCKS = 100;
const CONCURRENT_REQUESTS = 8;

export interface Activity {
  transactions: Transaction[];
  /** How far was searched. */
  searched: number;
  oldestBlock?: number;
}

/** `contract`: the name that transactions use for it, if the address is one of the service's contracts. */
export async function loadActivity(
  address: string,
  contract: string | undefined,
  signal: AbortSignal,
): Promise<Activity> {
  const blocks = await listBlocks({ query: { limit: MAX_BLOCKS }, signal });
  const hashes: string[] = [];
  let oldestBlock: number | undefined;
  for (const block of blocks) {
    if (hashes.length >= MAX_TRANSACTIONS) break;
    // The last transactions of a block are the newest.
    hashes.push(...[...block.transactions].reverse());
    oldestBlock = block.number;
  }
  const found: Transaction[] = [];
  const wanted = hashes.slice(0, MAX_TRANSACTIONS);
  for (let i = 0; i < wanted.length; i += CONCURRENT_REQUESTS) {
    const batch = wanted.slice(i, i + CONCURRENT_REQUESTS);
    found.push(...(await Promise.all(batch.map((hash) => getTransaction({ path: { hash }, signal })))));
  }
  const transactions = found.filter((one) => isOf(one, address, contract));
  return { transactions, searched: wanted.length, oldestBlock };
}

export function isOf({ from, contract }: Transaction, address: string, name: string | undefined): boolean {
  if (from.toLowerCase() === address.toLowerCase()) return true;
  return name !== undefined && contract?.toLowerCase() === name.toLowerCase();
}
