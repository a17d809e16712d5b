import { expect, test } from 'vitest';
import { compareMixes, parseIds, totalShare } from './mix';

const item = (protocolName: string, allocationPercentage: number) => ({
  protocolName,
  protocolIdentifier: 'x',
  allocationPercentage,
});

test('at most four ids, each once', () => {
  expect(parseIds('a,b,,a,c,d,e')).toEqual(['a', 'b', 'c', 'd']);
  expect([parseIds(null), parseIds('')]).toEqual([[], []]);
});

test('networks are rows, in whatever spelling, the largest share first', () => {
  const rows = compareMixes([
    [item('Helium', 10), item('Render', 90)],
    [item('helium', 60), item('Render', 40)],
  ]);
  expect(rows.map(({ name }) => name)).toEqual(['Render', 'Helium']);
});

test('each share says how it differs from the first', () => {
  const [render, helium, storj, same] = compareMixes([
    [item('Render', 60), item('Helium', 30), item('Same', 5)],
    [item('Render', 80), item('Storj', 15), item('Same', 5)],
    [item('Render', 47.5), item('Same', 5)],
  ]);
  expect(render?.cells.map(({ difference, points }) => [difference, points])).toEqual([
    ['same', 0],
    ['more', 20],
    ['less', 12.5],
  ]);
  expect(helium?.cells.map(({ difference }) => difference)).toEqual(['same', 'missing', 'missing']);
  expect(storj?.cells.map(({ difference }) => difference)).toEqual(['none', 'only', 'none']);
  expect([render, helium, storj, same].map((row) => row?.differs)).toEqual([true, true, true, false]);
});

test('shares of one network add up exactly', () => {
  const [row] = compareMixes([[item('Helium', 0.1), item('HELIUM', 0.2)], [item('Helium', 0.3)]]);
  expect(row?.cells).toEqual([
    { share: 0.3, difference: 'same', points: 0 },
    { share: 0.3, difference: 'same', points: 0 },
  ]);
  expect(row?.differs).toBe(false);
  expect(totalShare([item('a', 33.3334), item('b', 33.3333), item('c', 33.3333)])).toBe(100);
});
