// Questions whose "there is none" is a 404, which the browser reports on its console. They are asked only where the
// totals do not say already that there is none; and what was found absent is not asked for again while the total stands.
import { ApiError, getApplications, getListingStatistics, proveListing, type ListingProof } from '../api';

/** What was absent, with the total at which it was. */
const absent = new Map<string, number>();

async function unlessAbsent<T>(what: string, total: number, ask: () => Promise<T>, code: string) {
  if (total === 0 || absent.get(what) === total) return undefined;
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ApiError && error.code === code)) throw error;
    absent.set(what, total);
    return undefined;
  }
}

/** The ids of the listings that somebody applied to, newest first. */
export async function applicationsOf(userId: string, signal?: AbortSignal): Promise<string[]> {
  const { totalApplications } = await getListingStatistics({ signal });
  const ask = () => getApplications({ path: { userId }, signal });
  const found = await unlessAbsent(`applications ${userId}`, totalApplications, ask, 'application_not_found');
  return found ? [...found.listingIds].reverse() : [];
}

/** The proof of a listing, if it has a record on the chain. */
export async function proofOf(id: string, signal?: AbortSignal): Promise<ListingProof | undefined> {
  const { onChain } = await getListingStatistics({ signal });
  const ask = () => proveListing({ path: { id }, signal });
  return unlessAbsent(`record ${id}`, onChain, ask, 'record_not_found');
}
