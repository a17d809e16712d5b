// The chain knows an application by random bytes, and names no listing with them. These can be recognised: the user's own
// applications, and those to some of the user's own listings.
import { listApplicants, listApplicationRecords, listApplications, paged } from '$lib/api';
import { session } from '$lib/session/session.svelte';
import { oneByOne } from '$lib/state/one-by-one';
import type { KnownListings } from './known-listings';

/** Each candidate is a request of its own. */
const MAX_CANDIDATES = 20;
/** Whose applicants are looked up. */
const MAX_OWN_LISTINGS = 5;

export interface KnownApplication {
  userId: string;
  listingId: string;
  /** Only of the user's own: others have no page. */
  id?: string;
}

/** Applications by key. */
export type KnownApplications = ReadonlyMap<string, KnownApplication>;

/** Those of the keys that a transaction names which can be recognised. */
export async function loadKnownApplications(
  keys: readonly string[],
  known: KnownListings,
  signal: AbortSignal,
): Promise<KnownApplications> {
  if (keys.length === 0 || !session.isSignedIn) return new Map();
  const candidates = [...(await ownCandidates(signal)), ...(await applicantCandidates(known, signal))];
  const loadKey = async ({ userId, listingId }: KnownApplication) => {
    const [record] = await listApplicationRecords({ path: { userId, listingId }, signal });
    return record?.key;
  };
  return matchApplications(keys, candidates.slice(0, MAX_CANDIDATES), loadKey, signal);
}

async function ownCandidates(signal: AbortSignal): Promise<KnownApplication[]> {
  const { userId } = session;
  // The newest first; records are those of the newest application to a listing.
  const own = (await listApplications({ path: { userId }, signal })).reverse();
  return own
    .filter(({ listingId }, i) => own.findIndex((other) => other.listingId === listingId) === i)
    .map(({ id, listingId }) => ({ id, listingId, userId }));
}

async function applicantCandidates(known: KnownListings, signal: AbortSignal): Promise<KnownApplication[]> {
  const own = [...known.values()].filter(({ isOwn }) => isOwn).slice(0, MAX_OWN_LISTINGS);
  const found = await Promise.all(
    own.map(async ({ id }) => {
      const path = { id };
      const query = { limit: MAX_CANDIDATES };
      const { items } = await paged((fetch) => listApplicants({ path, query, signal, fetch }));
      return items.map(({ userId }) => ({ userId, listingId: path.id }));
    }),
  );
  return found.flat();
}

/** Asks for the key of each candidate until all that are wanted are found. */
export async function matchApplications(
  wanted: readonly string[],
  candidates: readonly KnownApplication[],
  loadKey: (candidate: KnownApplication) => Promise<string | undefined>,
  signal?: AbortSignal,
): Promise<KnownApplications> {
  const left = new Set(wanted);
  const found = new Map<string, KnownApplication>();
  const load = async (candidate: KnownApplication) => (left.size === 0 ? undefined : loadKey(candidate));
  await oneByOne(
    candidates,
    load,
    (candidate, outcome) => {
      if (outcome.ok && outcome.value !== undefined && left.delete(outcome.value)) found.set(outcome.value, candidate);
    },
    signal,
  );
  return found;
}
