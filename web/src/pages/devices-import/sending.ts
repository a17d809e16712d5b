// Registers many devices with limited concurrency. A rejected row does not stop the others.
import { ApiError, ConnectionError, describe, isAbort } from '$lib/api/problem';
import type { Row } from './rows';

export type Result = { state: 'sending' } | { state: 'done' } | { state: 'taken' | 'failed'; why: string };

export interface Sending {
  send: (row: Row) => Promise<unknown>;
  report: (row: Row, result: Result | undefined) => void;
  wait: (ms: number) => Promise<void>;
  /** When it returns true, no further rows are sent. */
  stopped: () => boolean;
}

const AT_ONCE = 4;
const TRIES = 6;

/** Resolves when all rows are done or it is stopped; rejects when the service is unreachable. */
export async function registerAll(rows: readonly Row[], { send, report, wait, stopped }: Sending): Promise<void> {
  const queue = rows.values();
  let lost: unknown;

  async function one(row: Row): Promise<void> {
    report(row, { state: 'sending' });
    for (let attempt = 1; ; attempt++) {
      try {
        await send(row);
        return report(row, { state: 'done' });
      } catch (error) {
        if (error instanceof ConnectionError || isAbort(error)) {
          lost = error;
          return report(row, undefined);
        }
        const busy = error instanceof ApiError && (error.status === 429 || error.status === 503);
        if (!busy || attempt === TRIES) return report(row, resultOf(error));
        await wait(500 * 2 ** attempt);
      }
    }
  }
  async function worker(): Promise<void> {
    // The workers share the iterator, so each row is sent once.
    for (const row of { [Symbol.iterator]: () => ({ next: () => queue.next() }) }) {
      if (stopped() || lost) return;
      await one(row);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  if (lost) throw lost;
}

function resultOf(error: unknown): Result {
  if (error instanceof ApiError && error.code === 'device_exists') {
    return { state: 'taken', why: 'Registered already.' };
  }
  const faults = error instanceof ApiError ? error.faults.map(({ pointer, message }) => `${pointer} ${message}`) : [];
  return { state: 'failed', why: faults.length > 0 ? `${faults.join('; ')}.` : describe(error) };
}
