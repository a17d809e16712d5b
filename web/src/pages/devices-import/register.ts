// Registers many devices with limited concurrency. A rejected row does not stop the others.
import { ApiError, ConnectionError, errorMessage, isAbort } from '$lib/api/problem';
import type { Row } from './rows';

export type Result = { state: 'sending' } | { state: 'done' } | { state: 'taken' | 'failed'; reason: string };

export interface RegisterDeps {
  send: (row: Row) => Promise<unknown>;
  report: (row: Row, result: Result | undefined) => void;
  wait: (ms: number) => Promise<void>;
  /** When it returns true, no further rows are sent. */
  isStopped: () => boolean;
}

const MAX_CONCURRENT_REQUESTS = 4;
const MAX_ATTEMPTS = 6;

/** Resolves when all rows are done or it is stopped; rejects when the service is unreachable. */
export async function registerAll(
  rows: readonly Row[],
  { send, report, wait, isStopped }: RegisterDeps,
): Promise<void> {
  const queue = rows.values();
  let fatalError: unknown;

  async function registerRow(row: Row): Promise<void> {
    report(row, { state: 'sending' });
    for (let attempt = 1; ; attempt++) {
      try {
        await send(row);
        return report(row, { state: 'done' });
      } catch (error) {
        if (error instanceof ConnectionError || isAbort(error)) {
          fatalError = error;
          return report(row, undefined);
        }
        const isBusy = error instanceof ApiError && (error.status === 429 || error.status === 503);
        if (!isBusy || attempt === MAX_ATTEMPTS) return report(row, toResult(error));
        await wait(500 * 2 ** attempt);
      }
    }
  }
  async function worker(): Promise<void> {
    // The workers share the iterator, so each row is sent once.
    for (const row of { [Symbol.iterator]: () => ({ next: () => queue.next() }) }) {
      if (isStopped() || fatalError) return;
      await registerRow(row);
    }
  }
  await Promise.all(Array.from({ length: MAX_CONCURRENT_REQUESTS }, worker));
  if (fatalError) throw fatalError;
}

function toResult(error: unknown): Result {
  if (error instanceof ApiError && error.code === 'device_exists') {
    return { state: 'taken', reason: 'Registered already.' };
  }
  const messages =
    error instanceof ApiError ? error.fieldErrors.map(({ pointer, message }) => `${pointer} ${message}`) : [];
  return { state: 'failed', reason: messages.length > 0 ? `${messages.join('; ')}.` : errorMessage(error) };
}
