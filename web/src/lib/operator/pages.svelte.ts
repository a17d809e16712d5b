// A paged list of which more is loaded on request.
import { paged } from '../api';
import { resource, type Resource } from '../state/resource.svelte';
import { toasts } from '../state/toasts.svelte';

export interface PageOptions {
  query: { limit: number; cursor?: string };
  signal: AbortSignal;
  fetch: typeof globalThis.fetch;
}

const PAGE_SIZE = 50;

export class Pages<T> {
  readonly first: Resource<T[]>;
  /** True while another page is loaded. */
  loading = $state(false);
  #load: (options: PageOptions) => Promise<T[]>;
  #more = $state.raw<T[]>([]);
  #cursor = $state.raw<string | undefined>();
  #signal: AbortSignal | undefined;

  /** Call it during component initialisation; `load` runs again when state that it reads changes. */
  constructor(load: (options: PageOptions) => Promise<T[]>) {
    this.#load = load;
    this.first = resource(async (signal) => {
      const { items, cursor } = await paged((fetch) => load({ query: { limit: PAGE_SIZE }, signal, fetch }));
      this.#more = [];
      this.#cursor = cursor;
      this.#signal = signal;
      return items;
    });
  }

  get all(): T[] {
    return [...(this.first.data ?? []), ...this.#more];
  }

  get hasMore(): boolean {
    return this.#cursor !== undefined;
  }

  loadMore = async (): Promise<void> => {
    const [cursor, signal] = [this.#cursor, this.#signal];
    if (!cursor || !signal || this.loading) return;
    this.loading = true;
    try {
      const page = await paged((fetch) => this.#load({ query: { limit: PAGE_SIZE, cursor }, signal, fetch }));
      // The list was reloaded meanwhile.
      if (this.#cursor !== cursor) return;
      this.#more = [...this.#more, ...page.items];
      this.#cursor = page.cursor;
    } catch (error) {
      if (!signal.aborted) toasts.error(error);
    } finally {
      this.loading = false;
    }
  };
}
