import { expect, test } from 'vitest';
import { inView, type Weighted } from './fit';
import type { Place } from './types';

const one = (at: Place): Weighted => ({ at, count: 1 });
const many = (at: Place, count: number): Weighted => ({ at, count });
const austin: Place[] = [
  [30.27, -97.74],
  [30.31, -97.7],
  [30.22, -97.8],
];

test('one bad pin does not zoom out to the world', () => {
  expect(inView([...austin, [0, 0] as Place].map(one))).toHaveLength(3);
  expect(inView([many([30.27, -97.74], 500), many([-33, 151], 9)])).toEqual([many([30.27, -97.74], 500)]);
});

test('homes all over the country are all shown', () => {
  const places: Place[] = [
    [30.27, -97.74],
    [39.74, -104.99],
    [42.36, -71.06],
    [47.61, -122.33],
    [25.77, -80.2],
  ];
  expect(inView(places.map(one))).toHaveLength(5);
  expect(inView([many([30.27, -97.74], 60), many([47.61, -122.33], 40)])).toHaveLength(2);
});

test('of two homes far apart both are shown, and without homes nothing', () => {
  expect(inView([one([30, -97]), one([0, 0])])).toHaveLength(2);
  expect(inView([])).toEqual([]);
});
