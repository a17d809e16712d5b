// The part of the map that shows the homes. A few that are far from all others, as a wrong pin is, do not count.
import type { Place } from './types';

export interface Weighted {
  at: Place;
  count: number;
}

/** Below that number it is not clear which one is wrong. */
const MIN_TO_JUDGE = 3;
const MAX_OUTLIERS = 0.02;
/** Outliers are left out if the rest is so many times smaller. */
const MIN_GAIN = 4;
const MIN_SPAN_DEGREES = 0.5;

/** Those to show. */
export function inView<T extends Weighted>(all: readonly T[]): readonly T[] {
  const total = all.reduce((sum, { count }) => sum + count, 0);
  if (total < MIN_TO_JUDGE) return all;
  const middle: Place = [median(all, 0), median(all, 1)];
  const farthestFirst = [...all].sort((a, b) => distance(b.at, middle) - distance(a.at, middle));
  let allowed = Math.max(1, Math.floor(total * MAX_OUTLIERS));
  const firstKept = farthestFirst.findIndex(({ count }) => (allowed -= count) < 0);
  const rest = farthestFirst.slice(firstKept);
  return span(all) > MIN_GAIN * Math.max(span(rest), MIN_SPAN_DEGREES) ? rest : all;
}

function median(places: readonly Weighted[], axis: 0 | 1): number {
  const sorted = [...places].sort((a, b) => a.at[axis] - b.at[axis]);
  let left = sorted.reduce((sum, { count }) => sum + count, 0) / 2;
  return sorted.find(({ count }) => (left -= count) <= 0)?.at[axis] ?? 0;
}

const distance = (a: Place, b: Place) => Math.hypot(a[0] - b[0], a[1] - b[1]);

function span(places: readonly Weighted[]): number {
  const spans = ([0, 1] as const).map((axis) => {
    const values = places.map(({ at }) => at[axis]);
    return Math.max(...values) - Math.min(...values);
  });
  return Math.max(...spans);
}
