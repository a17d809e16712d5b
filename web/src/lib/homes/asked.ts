// Questions whose "there is none" is a 404. The browser reports every 404 on its console, so the totals are asked first:
// they often say already that there is none.
import { ApiError, getApplications, getListingStatistics, proveListing, type ListingProof } from '../api';

async function orNone<T>(answer: Promise<T>, code: string): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.code === code) return undefined;
    throw error;
  }
}

/** The ids of the listings that somebody applied to, newest first. */
export async function applicationsOf(userId: string, signal?: AbortSignal): Promise<string[]> {
  const { totalApplications } = await getListingStatistics({ signal });
  if (totalApplications === 0) return [];
  const found = await orNone(getApplications({ path: { userId }, signal }), 'application_not_found');
  return found ? [...found.listingIds].reverse() : [];
}

/** The proof of a listing, if it has a record on the chain. */
export async function proofOf(id: string, signal?: AbortSignal): Promise<ListingProof | undefined> {
  const { onChain } = await getListingStatistics({ signal });
  if (onChain === 0) return undefined;
  return orNone(proveListing({ path: { id }, signal }), 'record_not_found');
}
