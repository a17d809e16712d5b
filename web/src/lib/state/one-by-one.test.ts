import { expect, test, vi } from 'vitest';
import { ApiError } from '../api/problem';
import { oneByOne, type Outcome } from './one-by-one';

async function run<R>(items: readonly number[], work: (item: number) => Promise<R>, signal?: AbortSignal) {
  const outcomes = new Map<number, Outcome<R>>();
  await oneByOne(items, work, (item, outcome) => outcomes.set(item, outcome), signal);
  return outcomes;
}

test('every item has its outcome, and one failure stops no other', async () => {
  const outcomes = await run([1, 2, 3], (item) =>
    item === 2 ? Promise.reject(new Error('no')) : Promise.resolve(item),
  );
  expect(outcomes.get(1)).toEqual({ ok: true, value: 1 });
  expect(outcomes.get(2)).toEqual({ ok: false, error: new Error('no') });
  expect(outcomes.get(3)).toEqual({ ok: true, value: 3 });
});

test('at most four run at the same time', async () => {
  let [running, most] = [0, 0];
  await run([...Array(20).keys()], async () => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running -= 1;
  });
  expect(most).toBe(4);
});

test('too many requests are sent again after the time of the service', async () => {
  vi.useFakeTimers();
  const work = vi
    .fn()
    .mockRejectedValueOnce(new ApiError(429, {}, 3))
    .mockResolvedValue('done');
  const outcomes = run([1], work);
  await vi.advanceTimersByTimeAsync(2_900);
  expect(work).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(200);
  expect((await outcomes).get(1)).toEqual({ ok: true, value: 'done' });
  vi.useRealTimers();
});

test('aborted, it ends and tells nothing more', async () => {
  const controller = new AbortController();
  const done = vi.fn();
  const work = () => {
    controller.abort();
    return Promise.resolve(1);
  };
  await expect(oneByOne([1, 2, 3, 4, 5, 6], work, done, controller.signal)).rejects.toThrow(/abort/i);
  expect(done).not.toHaveBeenCalled();
});
