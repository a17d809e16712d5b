// A user's search for a home: applications, results and saved homes.
import {
  getApplication,
  getSavedListings,
  listListings,
  listVerifications,
  type Application,
  type ApplicationSummary,
  type Verification,
} from '../api';
import { toStoredDetails, type StoredDetails } from '../format/stored';
import { isReadable, loadApplications } from '../listings/applications';
import { isShared } from '../listings/words';
import { session } from '../session/session.svelte';

export interface OwnApplication {
  summary: ApplicationSummary;
  /** The street; the listing's id if it is no longer listed. */
  home: string;
  /** With its checks; absent once nothing is shared. */
  whole?: Application;
}

export interface Search {
  /** Newest first, at most `MAX_APPLICATIONS`. */
  applications: OwnApplication[];
  /** How many there are in all. */
  count: number;
  /** Newest first; API keys have none. */
  results: Verification[];
  saved: StoredDetails[];
}

const MAX_APPLICATIONS = 20;

export async function loadSearch(signal: AbortSignal): Promise<Search> {
  const { userId, isPerson } = session;
  const [all, results, { listingDetails }] = await Promise.all([
    loadApplications(userId, signal),
    isPerson ? listVerifications({ signal }) : [],
    getSavedListings({ path: { userId }, signal }),
  ]);
  const saved = listingDetails.map(toStoredDetails);
  const applications = await Promise.all(
    all.slice(0, MAX_APPLICATIONS).map(async (summary): Promise<OwnApplication> => {
      const { listingId } = summary;
      const [home, whole] = await Promise.all([
        saved.find(({ id }) => id === listingId)?.street ?? streetOf(listingId, signal),
        isReadable(summary, all) && isShared(summary.status)
          ? getApplication({ path: { userId, listingId }, signal })
          : undefined,
      ]);
      return { summary, home: home ?? listingId, whole };
    }),
  );
  return { applications, count: all.length, results: results.reverse(), saved };
}

async function streetOf(listingId: string, signal: AbortSignal): Promise<string | undefined> {
  const [listing] = await listListings({ query: { listingId }, signal });
  return listing?.streetAddress;
}
