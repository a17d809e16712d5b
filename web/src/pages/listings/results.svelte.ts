// Loads search results. The first page is small, so that it appears quickly. Further pages load automatically up to a
// limit, and after that when the end of the list scrolls into view.
import { untrack } from 'svelte';
import { isAbort, listListings, paged, type Listing } from '$lib/api';
import type { Conditions } from './search';

const FIRST_PAGE_SIZE = 100;
const PAGE_SIZE = 1000;
const MAX_AUTOLOADED_ITEMS = 10_000;

export class Results {
  items = $state.raw<Listing[]>([]);
  error = $state.raw<unknown>();
  loading = $state(true);
  /** Number of searches of which the first page has arrived. */
  searchCount = $state(0);
  #cursor = $state<string>();
  #reloadCount = $state(0);
  #conditions: Conditions = {};
  #signal: AbortSignal | undefined;

  constructor(conditions: () => Conditions) {
    $effect(() => {
      void this.#reloadCount;
      this.#conditions = conditions();
      const controller = new AbortController();
      this.#signal = controller.signal;
      untrack(() => void this.#load(controller.signal, true));
      return () => controller.abort();
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
    let cursor = isNewSearch ? undefined : this.#cursor;
    let isFirstPage = isNewSearch;
    try {
      do {
        const query = { ...this.#conditions, limit: isFirstPage ? FIRST_PAGE_SIZE : PAGE_SIZE, cursor };
        const page = await paged((fetch) => listListings({ query, signal, fetch }));
        if (signal.aborted) return;
        this.items = isFirstPage ? page.items : [...this.items, ...page.items];
        if (isFirstPage) this.searchCount += 1;
        this.#cursor = cursor = page.cursor;
        isFirstPage = false;
      } while (cursor && this.items.length < MAX_AUTOLOADED_ITEMS);
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      this.error = error;
      // Do not show the results of the previous search.
      if (isFirstPage) this.items = [];
    }
    this.loading = false;
  }
}
