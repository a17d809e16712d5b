// Loads data for a component: `const saved = resource((signal) => getSavedListings({ path, signal }))`.
// Call it during component initialisation. It reloads when state changes that the function reads before its first
// `await`, and it aborts when the component is destroyed.
import { untrack } from 'svelte';
import { ConnectionError, isAbort } from '../api/problem';
import { connection } from './connection.svelte';

export interface ResourceOptions<T> {
  /** Polling interval in milliseconds. Polling pauses while the page is hidden. */
  pollMs?: number;
  /** Stops polling when it returns true. */
  isDone?: (data: T) => boolean;
}

export class Resource<T> {
  data = $state.raw<T | undefined>();
  error = $state.raw<unknown>();
  loading = $state(true);
  #load: (signal: AbortSignal) => Promise<T>;
  #options: ResourceOptions<T>;
  #reloadCount = $state(0);

  constructor(load: (signal: AbortSignal) => Promise<T>, options: ResourceOptions<T>) {
    this.#load = load;
    this.#options = options;
    $effect(() => {
      void this.#reloadCount;
      const controller = new AbortController();
      const promise = load(controller.signal);
      untrack(() => void this.#apply(promise, controller.signal));
      const timer = this.#poll(controller.signal);
      return () => {
        controller.abort();
        clearInterval(timer);
      };
    });
    $effect(() => {
      if (connection.isLost) return;
      untrack(() => {
        if (this.error instanceof ConnectionError) this.reload();
      });
    });
  }

  /** True before the first data or error. */
  get pending(): boolean {
    return this.data === undefined && this.error === undefined;
  }

  /** Reloads; the current data stays visible until then. */
  reload = (): void => {
    this.#reloadCount += 1;
  };

  /** Replaces the data without loading, for optimistic updates. */
  set(data: T): void {
    this.data = data;
  }

  #poll(signal: AbortSignal) {
    const { pollMs, isDone } = this.#options;
    if (!pollMs) return undefined;
    return setInterval(() => {
      if (this.data !== undefined && isDone?.(this.data)) return;
      if (!document.hidden && !this.loading) void this.#apply(this.#load(signal), signal);
    }, pollMs);
  }

  async #apply(promise: Promise<T>, signal: AbortSignal): Promise<void> {
    this.loading = true;
    try {
      const data = await promise;
      if (signal.aborted) return;
      this.data = data;
      this.error = undefined;
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      this.error = error;
    }
    this.loading = false;
  }
}

export function resource<T>(load: (signal: AbortSignal) => Promise<T>, options: ResourceOptions<T> = {}): Resource<T> {
  return new Resource(load, options);
}
