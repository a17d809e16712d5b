// Calls the service once per item, a few at a time, and slower when it asks for that.
import { ApiError } from '../api/problem';
import { wait } from './wait';

const AT_THE_SAME_TIME = 4;
const MAX_ATTEMPTS = 5;
const DEFAULT_RETRY_S = 1;

/** What came of an item: its value, or why it failed. */
export type Outcome<R> = { ok: true; value: R } | { ok: false; error: unknown };

/** `done` is called after each item, in any order. It rejects only when it is aborted. */
export async function oneByOne<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  done: (item: T, outcome: Outcome<R>) => void,
  signal?: AbortSignal,
): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) {
      const outcome = await attempt(() => work(item), signal);
      signal?.throwIfAborted();
      done(item, outcome);
    }
  };
  await Promise.all(Array.from({ length: AT_THE_SAME_TIME }, worker));
}

async function attempt<R>(work: () => Promise<R>, signal?: AbortSignal): Promise<Outcome<R>> {
  for (let tries = 1; ; tries++) {
    try {
      return { ok: true, value: await work() };
    } catch (error) {
      const isTooFast = error instanceof ApiError && error.status === 429;
      if (!isTooFast || tries >= MAX_ATTEMPTS) return { ok: false, error };
      await wait((error.retryAfter ?? DEFAULT_RETRY_S) * 1000, signal);
    }
  }
}
