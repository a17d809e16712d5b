import { expect, test } from 'vitest';
import { evenly, numberOf, parseShare, textOf, unitsOf, WHOLE } from './shares';

test.each([
  ['62.5', 625_000],
  ['100', WHOLE],
  ['100.0000', WHOLE],
  ['.5', 5_000],
  [' 33.3333 % ', 333_333],
  ['7.000000', 70_000],
  ['0', 0],
  ['-0', 0],
])('%s is a share', (text, units) => {
  expect(parseShare(text, '.').units).toBe(units);
});

test.each([
  ['', 'How many percent?'],
  ['x', 'Not a number.'],
  ['.', 'Not a number.'],
  ['1e2', 'Not a number.'],
  ['1,000', 'Not a number.'],
  ['-1', 'From 0 to 100.'],
  ['100.0001', 'From 0 to 100.'],
  ['100.00001', 'From 0 to 100.'],
  ['12.34567', 'At most 4 decimals.'],
])('“%s” is not a share', (text, fault) => {
  expect(parseShare(text, '.').fault).toBe(fault);
});

test('a locale can use a decimal comma, and a point always works', () => {
  expect(parseShare('62,5', ',').units).toBe(625_000);
  expect(parseShare('62.5', ',').units).toBe(625_000);
  expect(textOf(625_000, ',')).toBe('62,5');
});

test('shares add up exactly', () => {
  const units = [33.3, 66.7].map(unitsOf).reduce((sum, share) => sum + share, 0);
  expect(units).toBe(WHOLE);
  expect(numberOf(333_333)).toBe(33.3333);
});

test.each([1, 3, 7, 999])('%i equal parts add up to 100%', (count) => {
  expect(evenly(count).reduce((sum, units) => sum + units, 0)).toBe(WHOLE);
});
