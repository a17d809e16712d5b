import { expect, test } from 'vitest';
import { parseCsv, writeCsv } from './csv';

const cells = (text: string) => parseCsv(text).map((line) => line.cells);

test('lines and cells, whatever the line ends are', () => {
  expect(cells('a,b\nc,d\r\ne,f\rg,h')).toEqual([
    ['a', 'b'],
    ['c', 'd'],
    ['e', 'f'],
    ['g', 'h'],
  ]);
});

test('quotes hold commas, quotes and line ends', () => {
  expect(cells('"a,1","b ""x""","c\nd"\n e , f')).toEqual([
    ['a,1', 'b "x"', 'c\nd'],
    [' e ', ' f'],
  ]);
});

test('a line knows where it started, with empty lines and lines inside quotes before it', () => {
  expect(parseCsv('a,b\n\n"c\nd",e\nf,g').map(({ line }) => line)).toEqual([1, 3, 5]);
});

test('semicolons and tabs separate too, and a byte order mark is no text', () => {
  expect(cells('\uFEFFnetwork;id\nHelium;a,b')).toEqual([
    ['network', 'id'],
    ['Helium', 'a,b'],
  ]);
  expect(cells('Helium\tx')).toEqual([['Helium', 'x']]);
});

test('nothing is no rows', () => {
  expect(parseCsv('\n , \n')).toEqual([]);
});

test('what is written is read back', () => {
  const rows = [
    ['Helium', 'a"b,c'],
    ['x;y', 'two\nlines'],
  ];
  expect(cells(writeCsv(rows))).toEqual(rows);
});
