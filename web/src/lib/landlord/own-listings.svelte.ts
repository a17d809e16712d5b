// The user's listings with their status and applicants. The list is one request; the rest is one or two per home.
import {
  listApplicants,
  listListings,
  getListing,
  paged,
  tagged,
  type Applicant,
  type Listing,
  type ListingDetails,
  type Tagged,
} from '../api';
import { session } from '../session/session.svelte';
import { oneByOne } from '../state/one-by-one';
import { resource } from '../state/resource.svelte';

export interface ListingFacts {
  details: ListingDetails;
  /** Of the version that was read, for `If-Match`. */
  etag: string;
  /** The newest ones, at most `MAX_APPLICANTS`. */
  applicants: readonly Applicant[];
  hasMoreApplicants: boolean;
}

export interface OwnListing {
  listing: Listing;
  /** Undefined until it is loaded. */
  facts?: ListingFacts;
}

const MAX_APPLICANTS = 100;
/** Of a landlord with more listings, only these are looked at until they ask for all. */
export const INITIAL_DETAILS_LIMIT = 200;
/** How many listings are loaded between two updates of the page. */
const UPDATE_EVERY = 20;

export class OwnListings {
  list = resource((signal) => listListings({ query: { userId: session.userId }, signal }));
  #facts = $state.raw<ReadonlyMap<string, ListingFacts>>(new Map());
  #limit = $state(INITIAL_DETAILS_LIMIT);
  /** Homes that could not be loaded, and the last reason. */
  failed = $state.raw<{ count: number; error: unknown }>();
  listings = $derived<OwnListing[]>(
    (this.list.data ?? []).map((listing) => ({ listing, facts: this.#facts.get(listing.listingId) })),
  );
  isComplete = $derived(this.list.data !== undefined && this.listings.every(({ facts }) => facts));
  /** How many listings have not been asked about. */
  unasked = $derived(Math.max(0, (this.list.data?.length ?? 0) - this.#limit));
  isLoading = $state(true);

  constructor() {
    $effect(() => {
      const listings = this.list.data?.slice(0, this.#limit);
      if (!listings) return;
      const controller = new AbortController();
      this.#load(listings, controller.signal).catch(() => undefined);
      return () => controller.abort();
    });
  }

  loadAll = (): void => {
    this.#limit = Infinity;
  };

  /** Shows a change that the service has confirmed. */
  update({ data: details, etag }: Tagged<ListingDetails>): void {
    const before = this.#facts.get(details.listingId);
    if (before) this.#facts = new Map(this.#facts).set(details.listingId, { ...before, details, etag });
  }

  remove(id: string): void {
    this.list.set((this.list.data ?? []).filter(({ listingId }) => listingId !== id));
  }

  async #load(listings: readonly Listing[], signal: AbortSignal): Promise<void> {
    const loaded = new Map<string, ListingFacts>();
    const flush = () => {
      this.#facts = new Map([...this.#facts, ...loaded]);
      loaded.clear();
    };
    this.isLoading = true;
    let failures = 0;
    await oneByOne(
      listings,
      ({ listingId }) => loadFacts(listingId, signal),
      ({ listingId }, outcome) => {
        if (outcome.ok) loaded.set(listingId, outcome.value);
        else this.failed = { count: ++failures, error: outcome.error };
        if (loaded.size >= UPDATE_EVERY) flush();
      },
      signal,
    );
    flush();
    if (failures === 0) this.failed = undefined;
    this.isLoading = false;
  }
}

async function loadFacts(id: string, signal: AbortSignal): Promise<ListingFacts> {
  const path = { id };
  const [{ data: details, etag }, applicants] = await Promise.all([
    tagged((fetch) => getListing({ path, signal, fetch })),
    paged((fetch) => listApplicants({ path, query: { limit: MAX_APPLICANTS }, signal, fetch })),
  ]);
  return { details, etag, applicants: applicants.items, hasMoreApplicants: applicants.cursor !== undefined };
}
