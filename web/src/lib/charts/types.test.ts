import { expect, test } from 'vitest';
import { toSlices } from './types';

test('counts become slices, largest first', () => {
  expect(toSlices({ TX: 2, CA: 5 })).toEqual([
    { label: 'CA', value: 5 },
    { label: 'TX', value: 2 },
  ]);
});

test('the smallest slices are merged', () => {
  const slices = toSlices({ a: 9, b: 8, c: 3, d: 2, e: 1 }, 3);
  expect(slices.map((slice) => slice.label)).toEqual(['a', 'b', '3 others']);
  expect(slices[2]?.value).toBe(6);
});
