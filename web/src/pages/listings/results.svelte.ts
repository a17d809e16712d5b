// Loads search results. The first page is small, so that it appears quickly. Further pages load automatically up to a
// limit, and after that when the end of the list scrolls into view.
import { untrack } from 'svelte';
import { isAbort, listListings, paged, type Listing } from '$lib/api';
import type { Conditions } from './search';

const FIRST = 100;
const PAGE = 1000;
const ENOUGH = 10_000;

export class Results {
  items = $state.raw<Listing[]>([]);
  error = $state.raw<unknown>();
  loading = $state(true);
  /** Number of searches of which the first page has arrived. */
  answered = $state(0);
  #cursor = $state<string>();
  #again = $state(0);
  #conditions: Conditions = {};
  #signal: AbortSignal | undefined;

  constructor(conditions: () => Conditions) {
    $effect(() => {
      void this.#again;
      this.#conditions = conditions();
      const stop = new AbortController();
      this.#signal = stop.signal;
      untrack(() => void this.#run(stop.signal, true));
      return () => stop.abort();
    });
  }

  /** True if further pages exist. */
  get more(): boolean {
    return this.#cursor !== undefined;
  }

  reload = (): void => {
    this.#again += 1;
  };

  /** Loads the next page. */
  next = (): void => {
    if (this.#signal && this.#cursor && !this.loading) void this.#run(this.#signal, false);
  };

  async #run(signal: AbortSignal, anew: boolean): Promise<void> {
    this.loading = true;
    this.error = undefined;
    let cursor = anew ? undefined : this.#cursor;
    let first = anew;
    try {
      do {
        const query = { ...this.#conditions, limit: first ? FIRST : PAGE, cursor };
        const page = await paged((fetch) => listListings({ query, signal, fetch }));
        if (signal.aborted) return;
        this.items = first ? page.items : [...this.items, ...page.items];
        if (first) this.answered += 1;
        this.#cursor = cursor = page.cursor;
        first = false;
      } while (cursor && this.items.length < ENOUGH);
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      this.error = error;
      // Do not show the results of the previous search.
      if (first) this.items = [];
    }
    this.loading = false;
  }
}
