import { expect, test } from 'vitest';
import { ApiError, ConnectionError } from '$lib/api/problem';
import type { Row } from './rows';
import { registerAll, type Result } from './register';

const rowsOf = (count: number, userId = 'dev'): Row[] =>
  Array.from({ length: count }, (_, i) => ({
    line: i + 1,
    network: 'Helium',
    deviceIdentifier: `h-${i + 1}`,
    userId,
    errors: [],
  }));

async function run(
  rows: Row[],
  send: (userId: string, rows: readonly Row[]) => Promise<unknown>,
  isStopped = () => false,
) {
  const results = new Map<Row, Result | undefined>();
  const ended = registerAll(rows, {
    send,
    report: (row, result) => results.set(row, result),
    wait: async () => undefined,
    isStopped,
  });
  const error = await ended.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { results: rows.map((row) => results.get(row)), error };
}

test('rows are sent in batches of one owner', async () => {
  const sent: [string, number][] = [];
  const rows = [...rowsOf(150), ...rowsOf(2, 'ben')];
  const { results } = await run(rows, async (userId, batch) => void sent.push([userId, batch.length]));
  expect(sent).toEqual([
    ['dev', 100],
    ['dev', 50],
    ['ben', 2],
  ]);
  expect(results.every((result) => result?.state === 'done')).toBe(true);
});

test('refused rows are named, and the others are sent without them', async () => {
  const sent: number[][] = [];
  const { results } = await run(rowsOf(5), async (_, batch) => {
    sent.push(batch.map(({ line }) => line));
    if (sent.length === 1)
      throw new ApiError(409, {
        code: 'device_exists',
        errors: [{ pointer: '/devices/2', code: 'device_exists', message: 'is registered on its network already' }],
      });
    if (sent.length === 2)
      throw new ApiError(400, {
        errors: [
          { pointer: '/devices/0/network', code: 'too_long', message: 'must be at most 255 characters long', max: 255 },
          { pointer: '/devices/0/deviceIdentifier', code: 'empty', message: 'must not be empty' },
        ],
      });
  });
  expect(sent).toEqual([
    [1, 2, 3, 4, 5],
    [1, 2, 4, 5],
    [2, 4, 5],
  ]);
  expect(results.map((result) => result?.state)).toEqual(['failed', 'done', 'taken', 'done', 'done']);
  expect(results[0]).toMatchObject({
    reason: 'network: Use at most 255 characters. deviceIdentifier: Enter the identifier of the device.',
  });
});

test('a busy service is retried', async () => {
  let asked = 0;
  const { results } = await run(rowsOf(1), async () => {
    if (asked++ < 2) throw new ApiError(429, {});
  });
  expect(results).toEqual([{ state: 'done' }]);
});

test('an error that names no row refuses the batch', async () => {
  const { results } = await run(rowsOf(2), async () => {
    throw new ApiError(403, { detail: 'this belongs to someone else' });
  });
  expect(results).toEqual(Array(2).fill({ state: 'failed', reason: 'This belongs to someone else.' }));
});

test('a lost connection stops the import without failing rows', async () => {
  const { results, error } = await run(rowsOf(3), async () => {
    throw new ConnectionError();
  });
  expect(error).toBeInstanceOf(ConnectionError);
  expect(results).toEqual([undefined, undefined, undefined]);
});

test('it can be stopped', async () => {
  let count = 0;
  const { results } = await run(
    rowsOf(250),
    async () => void count++,
    () => count >= 1,
  );
  expect(results.filter((result) => result?.state === 'done')).toHaveLength(100);
});
