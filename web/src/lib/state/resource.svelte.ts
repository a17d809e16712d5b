// Something that is loaded: `const saved = resource((signal) => getSavedListings({ path, signal }))`.
// Call it while a component is set up. It loads again when state that the function reads before its first `await`
// changes, and it stops when the component goes.
import { untrack } from 'svelte';
import { isAbort } from '../api/problem';

export interface ResourceOptions<T> {
  /** Loads again after so many milliseconds, as long as the page is visible. */
  every?: number;
  /** True for what will not change any more: it is not asked for again. */
  done?: (data: T) => boolean;
}

export class Resource<T> {
  data = $state.raw<T | undefined>();
  error = $state.raw<unknown>();
  loading = $state(true);
  #load: (signal: AbortSignal) => Promise<T>;
  #options: ResourceOptions<T>;
  #tick = $state(0);

  constructor(load: (signal: AbortSignal) => Promise<T>, options: ResourceOptions<T>) {
    this.#load = load;
    this.#options = options;
    $effect(() => {
      void this.#tick;
      const stop = new AbortController();
      const answer = load(stop.signal);
      untrack(() => void this.#take(answer, stop.signal));
      const timer = this.#poll(stop.signal);
      return () => {
        stop.abort();
        clearInterval(timer);
      };
    });
  }

  /** Nothing to show yet: neither data nor an error. */
  get pending(): boolean {
    return this.data === undefined && this.error === undefined;
  }

  /** Loads again; what is there stays visible meanwhile. */
  reload = (): void => {
    this.#tick += 1;
  };

  /** Shows a change before the service confirms it. */
  set(data: T): void {
    this.data = data;
  }

  #poll(signal: AbortSignal) {
    const { every, done } = this.#options;
    if (!every) return undefined;
    return setInterval(() => {
      if (this.data !== undefined && done?.(this.data)) return;
      if (!document.hidden && !this.loading) void this.#take(this.#load(signal), signal);
    }, every);
  }

  async #take(answer: Promise<T>, signal: AbortSignal): Promise<void> {
    this.loading = true;
    try {
      const data = await answer;
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
