// What a search found. The first page is small, so that something is there at once; the rest follows page by page until
// the map has enough, and from then on when the end of the list comes into view.
import { untrack } from 'svelte';
import { isAbort, listListings, paged, type Listing } from '$lib/api';
import type { Conditions } from './search';

const FIRST = 100;
const PAGE = 1000;
/** So many come by themselves. */
const ENOUGH = 10_000;

export class Results {
  items = $state.raw<Listing[]>([]);
  error = $state.raw<unknown>();
  loading = $state(true);
  /** Counts searches that have begun to answer. */
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

  /** Whether there are more than those that are here. */
  get more(): boolean {
    return this.#cursor !== undefined;
  }

  reload = (): void => {
    this.#again += 1;
  };

  /** Goes on after those that are here. */
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
      // Old results would look like those of the new search.
      if (first) this.items = [];
    }
    this.loading = false;
  }
}
