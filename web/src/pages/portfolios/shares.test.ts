import { expect, test } from 'vitest';
import { splitEvenly, toPercent, parseShare, formatUnits, toUnits, FULL_UNITS } from './shares';

test.each([
  ['62.5', 625_000],
  ['100', FULL_UNITS],
  ['100.0000', FULL_UNITS],
  ['.5', 5_000],
  [' 33.3333 % ', 333_333],
  ['7.000000', 70_000],
  ['0', 0],
  ['-0', 0],
])('%s is a share', (text, units) => {
  expect(parseShare(text, '.').units).toBe(units);
});

test.each([
  ['', 'Enter the share.'],
  ['x', 'Enter a number.'],
  ['.', 'Enter a number.'],
  ['1e2', 'Enter a number.'],
  ['1,000', 'Enter a number.'],
  ['-1', 'Enter a number from 0 to 100.'],
  ['100.0001', 'Enter a number from 0 to 100.'],
  ['100.00001', 'Enter a number from 0 to 100.'],
  ['12.34567', 'Use at most 4 decimals.'],
])('“%s” is not a share', (text, error) => {
  expect(parseShare(text, '.').error).toBe(error);
});

test('a locale can use a decimal comma, and a point always works', () => {
  expect(parseShare('62,5', ',').units).toBe(625_000);
  expect(parseShare('62.5', ',').units).toBe(625_000);
  expect(formatUnits(625_000, ',')).toBe('62,5');
});

test('shares add up exactly', () => {
  const units = [33.3, 66.7].map(toUnits).reduce((sum, share) => sum + share, 0);
  expect(units).toBe(FULL_UNITS);
  expect(toPercent(333_333)).toBe(33.3333);
});

test.each([1, 3, 7, 999])('%i equal parts add up to 100%', (count) => {
  expect(splitEvenly(count).reduce((sum, units) => sum + units, 0)).toBe(FULL_UNITS);
});
