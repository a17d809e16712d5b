import { expect, test } from 'vitest';
import { toCsv } from './csv';

const line = (...cells: Parameters<typeof toCsv>[0][number]) => toCsv([cells]).slice(1);

test('a file begins with a byte order mark and ends every row with CR LF', () => {
  expect(toCsv([['a', 'b'], ['c']])).toBe('\ufeffa,b\r\nc\r\n');
});

test('quotes, commas and line breaks are quoted', () => {
  expect(line('say "hi"', 'a,b', 'one\ntwo', 'plain')).toBe('"say ""hi""","a,b","one\ntwo",plain\r\n');
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'])('%j is no formula', (text) => {
  expect(line(text).replaceAll('"', '')).toBe(`'${text}\r\n`);
});

test('a formula with quotes is escaped and quoted', () => {
  expect(line('=HYPERLINK("http://x","y")')).toBe(`"'=HYPERLINK(""http://x"",""y"")"\r\n`);
});

test('numbers stay numbers, and what is absent is empty', () => {
  expect(line(-97.5, 0, undefined, '')).toBe('-97.5,0,,\r\n');
});
