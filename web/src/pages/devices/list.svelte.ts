// A paged list of devices. Further pages load when the end of the list scrolls into view.
import { paged, type Device } from '$lib/api';
import { resource, type Resource } from '$lib/state/resource.svelte';
import { toasts } from '$lib/state/toasts.svelte';

export interface PageOptions {
  query: { limit: number; cursor?: string };
  signal: AbortSignal;
  fetch: typeof globalThis.fetch;
}

const PAGE_SIZE = 200;

export class Devices {
  readonly first: Resource<Device[]>;
  #load: (options: PageOptions) => Promise<Device[]>;
  #more = $state.raw<Device[]>([]);
  #cursor: string | undefined;
  #signal: AbortSignal | undefined;
  #loading = false;

  /** Call it during component initialisation; `load` runs again when state that it reads changes. */
  constructor(load: (options: PageOptions) => Promise<Device[]>) {
    this.#load = load;
    this.first = resource(async (signal) => {
      const promise = paged((fetch) => load({ query: { limit: PAGE_SIZE }, signal, fetch }));
      const { items, cursor } = await promise;
      this.#more = [];
      this.#cursor = cursor;
      this.#signal = signal;
      return items;
    });
  }

  get all(): Device[] {
    return [...(this.first.data ?? []), ...this.#more];
  }

  loadMore = async (): Promise<void> => {
    const [cursor, signal] = [this.#cursor, this.#signal];
    if (!cursor || !signal || this.#loading) return;
    this.#loading = true;
    try {
      const page = await paged((fetch) => this.#load({ query: { limit: PAGE_SIZE, cursor }, signal, fetch }));
      // The list was reloaded meanwhile.
      if (this.#cursor !== cursor) return;
      this.#more = [...this.#more, ...page.items];
      this.#cursor = page.cursor;
    } catch (error) {
      if (!signal.aborted) toasts.error(error);
    } finally {
      this.#loading = false;
    }
  };

  remove(id: string): void {
    const keep = (device: Device) => device.depinDeviceId !== id;
    if (this.first.data) this.first.set(this.first.data.filter(keep));
    this.#more = this.#more.filter(keep);
  }
}
