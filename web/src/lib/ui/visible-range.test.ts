import { expect, test } from 'vitest';
import { visibleRange } from './visible-range';

test('renders the rows in view plus overscan', () => {
  expect(visibleRange({ scrollTop: 0, viewHeight: 600, rowHeight: 60, count: 10_000 })).toEqual({ from: 0, to: 26 });
  expect(visibleRange({ scrollTop: 60_000, viewHeight: 600, rowHeight: 60, count: 10_000 })).toEqual({
    from: 992,
    to: 1018,
  });
});

test('a short list is rendered completely', () => {
  expect(visibleRange({ scrollTop: 0, viewHeight: 600, rowHeight: 60, count: 3 })).toEqual({ from: 0, to: 3 });
  expect(visibleRange({ scrollTop: 0, viewHeight: 600, rowHeight: 60, count: 0 })).toEqual({ from: 0, to: 0 });
});

test('a list that became shorter shows its end', () => {
  expect(visibleRange({ scrollTop: 60_000, viewHeight: 600, rowHeight: 60, count: 20 })).toEqual({ from: 2, to: 20 });
});
