// Everything that the API tells the signed-in user about themselves. Secrets are in none of it.
import {
  getApplication,
  getIdentity,
  getListing,
  getSavedListings,
  listApplications,
  listDevicesByUser,
  listKeys,
  listListings,
  listPipelines,
  listUserPortfolios,
  listVerifications,
  type Application,
} from '$lib/api';
import { isReadable } from '$lib/listings';
import { oneByOne } from '$lib/state/one-by-one';
import { toStoredDetails } from '$lib/format/stored';

interface Caller {
  userId: string;
  /** Signed in with a token: keys have no results of their own. */
  isPerson: boolean;
}

type Part = (caller: Caller, signal: AbortSignal) => Promise<unknown>;

/** By the name in the file. */
const PARTS: Record<string, Part> = {
  applications: collectApplications,
  listings: async ({ userId }, signal) => {
    const listings = await listListings({ query: { userId }, signal });
    return collectEach(listings, ({ listingId: id }) => getListing({ path: { id }, signal }), signal);
  },
  savedListings: async ({ userId }, signal) => {
    const { savedListings, listingDetails } = await getSavedListings({ path: { userId }, signal });
    return { ids: savedListings.ListingIds.SS, listings: listingDetails.map(toStoredDetails) };
  },
  portfolios: ({ userId }, signal) => listUserPortfolios({ path: { userId }, signal }),
  devices: ({ userId }, signal) => listDevicesByUser({ path: { userId }, signal }),
};

/** Given to a person alone. */
const PERSONAL_PARTS: Record<string, Part> = {
  verifications: (_, signal) => listVerifications({ signal }),
  identities: async (_, signal) => {
    const tokens = [...new Set((await listVerifications({ signal })).map(({ tokenId }) => tokenId))];
    return collectEach(tokens, (tokenId) => getIdentity({ path: { tokenId }, signal }), signal);
  },
  requiredChecks: (_, signal) => listPipelines({ signal }),
  apiKeys: (_, signal) => listKeys({ signal }),
};

export function partNames({ isPerson }: Caller): string[] {
  return Object.keys(isPerson ? { ...PARTS, ...PERSONAL_PARTS } : PARTS);
}

/** `done` is called after each part. */
export async function collectData(
  caller: Caller,
  signal: AbortSignal,
  done: (parts: number) => void,
  now = new Date(),
): Promise<Record<string, unknown>> {
  const data: Record<string, unknown> = { userId: caller.userId, collectedAt: now.toISOString() };
  const all = { ...PARTS, ...PERSONAL_PARTS };
  for (const [index, name] of partNames(caller).entries()) {
    data[name] = await all[name]?.(caller, signal);
    done(index + 1);
  }
  return data;
}

async function collectApplications({ userId }: Caller, signal: AbortSignal): Promise<unknown> {
  const all = await listApplications({ path: { userId }, signal });
  const newestFirst = [...all].reverse();
  const whole = new Map<string, Application>();
  await oneByOne(
    all.filter((summary) => isReadable(summary, newestFirst)),
    ({ listingId }) => getApplication({ path: { userId, listingId }, signal }),
    ({ id }, outcome) => {
      if (!outcome.ok) throw outcome.error;
      whole.set(id, outcome.value);
    },
    signal,
  );
  // Of an application that was followed by another one, the service has only the summary.
  return all.map((summary) => ({ ...summary, ...whole.get(summary.id) }));
}

/** In the order of the items. A file that lacks something without saying so would be wrong: one failure fails all. */
async function collectEach<T, R>(items: readonly T[], get: (item: T) => Promise<R>, signal: AbortSignal): Promise<R[]> {
  const found = new Map<T, R>();
  await oneByOne(
    items,
    get,
    (item, outcome) => {
      if (!outcome.ok) throw outcome.error;
      found.set(item, outcome.value);
    },
    signal,
  );
  return items.map((item) => found.get(item) as R);
}
