import { expect, test } from 'vitest';
import { ApiError, ConnectionError } from '$lib/api/problem';
import type { Row } from './rows';
import { registerAll, type Result } from './register';

const rows: Row[] = Array.from({ length: 10 }, (_, i) => ({
  line: i + 1,
  network: 'Helium',
  deviceIdentifier: `h-${i + 1}`,
  userId: 'dev',
  errors: [],
}));

async function run(send: (row: Row) => Promise<unknown>, isStopped = () => false) {
  const results = new Map<number, Result | undefined>();
  const ended = registerAll(rows, {
    send,
    report: (row, result) => results.set(row.line, result),
    wait: async () => undefined,
    isStopped,
  });
  const error = await ended.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { results, error };
}

test('each row is sent once, and failures do not stop the others', async () => {
  const sent: number[] = [];
  const { results } = await run(async ({ line }) => {
    sent.push(line);
    if (line === 3) throw new ApiError(409, { code: 'device_exists' });
    if (line === 5) throw new ApiError(403, { detail: 'this belongs to someone else' });
  });
  expect(sent.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(results.get(3)).toEqual({ state: 'taken', reason: 'Registered already.' });
  expect(results.get(5)).toEqual({ state: 'failed', reason: 'This belongs to someone else.' });
  expect([...results.values()].filter((result) => result?.state === 'done')).toHaveLength(8);
});

test('a busy service is retried', async () => {
  let asked = 0;
  const { results } = await run(async ({ line }) => {
    if (line === 1 && asked++ < 2) throw new ApiError(429, {});
  });
  expect(results.get(1)).toEqual({ state: 'done' });
});

test('a lost connection stops the import without failing rows', async () => {
  const { results, error } = await run(async () => {
    throw new ConnectionError();
  });
  expect(error).toBeInstanceOf(ConnectionError);
  expect([...results.values()].every((result) => result === undefined)).toBe(true);
});

test('it can be stopped', async () => {
  let count = 0;
  const { results } = await run(
    async () => void count++,
    () => count >= 4,
  );
  expect(results.size).toBeLessThan(10);
});
