import { expect, test } from 'vitest';
import { parseCsv, writeCsv } from './csv';

const cells = (text: string) => parseCsv(text).map((line) => line.cells);

test('parses all kinds of line breaks', () => {
  expect(cells('a,b\nc,d\r\ne,f\rg,h')).toEqual([
    ['a', 'b'],
    ['c', 'd'],
    ['e', 'f'],
    ['g', 'h'],
  ]);
});

test('quoted cells contain commas, quotes and line breaks', () => {
  expect(cells('"a,1","b ""x""","c\nd"\n e , f')).toEqual([
    ['a,1', 'b "x"', 'c\nd'],
    [' e ', ' f'],
  ]);
});

test('line numbers count blank lines and line breaks in quotes', () => {
  expect(parseCsv('a,b\n\n"c\nd",e\nf,g').map(({ line }) => line)).toEqual([1, 3, 5]);
});

test('detects semicolons and tabs, and skips a byte order mark', () => {
  expect(cells('\uFEFFnetwork;id\nHelium;a,b')).toEqual([
    ['network', 'id'],
    ['Helium', 'a,b'],
  ]);
  expect(cells('Helium\tx')).toEqual([['Helium', 'x']]);
});

test('blank lines are skipped', () => {
  expect(parseCsv('\n , \n')).toEqual([]);
});

test('written rows parse to the same rows', () => {
  const rows = [
    ['Helium', 'a"b,c'],
    ['x;y', 'two\nlines'],
  ];
  expect(cells(writeCsv(rows))).toEqual(rows);
});
