// Loads the homes of the list: a small page, and the next one when the end of the list scrolls into view.
import { untrack } from 'svelte';
import { ConnectionError, isAbort, listListings, paged, type Listing, type ListListingsData } from '$lib/api';
import { connection } from '$lib/state/connection.svelte';

type Query = ListListingsData['query'];

const PAGE_SIZE = 100;

export class Results {
  items = $state.raw<Listing[]>([]);
  error = $state.raw<unknown>();
  loading = $state(true);
  /** Grows with each search that has come in, not with further pages. */
  searches = $state(0);
  #cursor = $state<string>();
  #reloadCount = $state(0);
  #query: Query;
  #signal: AbortSignal | undefined;

  constructor(query: () => Query) {
    $effect(() => {
      void this.#reloadCount;
      this.#query = query();
      const controller = new AbortController();
      this.#signal = controller.signal;
      untrack(() => void this.#load(controller.signal, true));
      return () => controller.abort();
    });
    $effect(() => {
      if (connection.isLost) return;
      untrack(() => {
        if (this.error instanceof ConnectionError) this.reload();
      });
    });
  }

  /** True if further pages exist. */
  get hasMore(): boolean {
    return this.#cursor !== undefined;
  }

  reload = (): void => {
    this.#reloadCount += 1;
  };

  /** Loads the next page. */
  loadMore = (): void => {
    if (this.#signal && this.#cursor && !this.loading) void this.#load(this.#signal, false);
  };

  async #load(signal: AbortSignal, isNewSearch: boolean): Promise<void> {
    this.loading = true;
    this.error = undefined;
    try {
      const query = { ...this.#query, limit: PAGE_SIZE, cursor: isNewSearch ? undefined : this.#cursor };
      const page = await paged((fetch) => listListings({ query, signal, fetch }));
      if (signal.aborted) return;
      this.items = isNewSearch ? page.items : [...this.items, ...page.items];
      this.#cursor = page.cursor;
      if (isNewSearch) this.searches += 1;
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      this.error = error;
      // Do not show the results of the previous search.
      if (isNewSearch) this.items = [];
    }
    this.loading = false;
  }
}
