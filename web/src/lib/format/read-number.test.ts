import { expect, test } from 'vitest';
import { numberReader } from './read-number';

const us = numberReader('en-US');
const de = numberReader('de-DE');
const read = (value: number) => ({ state: 'read', value });
const unclear = (...choices: number[]) => ({ state: 'unclear', choices });

test.each([
  ['1850', 1850],
  ['1,850', 1850],
  ['1,850.50', 1850.5],
  ['$1,850.50', 1850.5],
  ['US$ 1850.5', 1850.5],
  ['1850.50 USD', 1850.5],
  ['1 850', 1850],
  ['1\u202f850.5', 1850.5],
  ['1.85', 1.85],
  ['.5', 0.5],
  ['-5', -5],
  ['−5', -5],
  ['1,234,567', 1234567],
  ['12,34,567', 1234567],
])('%s is a number on an English page', (text, value) => {
  expect(us.readNumber(text)).toEqual(read(value));
});

test.each([
  ['1.850,00', [1850]],
  ['2.450 $', [2450, 2.45]],
  ['1.850', [1850, 1.85]],
  ['1,5', [1.5]],
  ['1.234.567', [1234567]],
])('%s is asked about on an English page', (text, choices) => {
  expect(us.readNumber(text)).toEqual(unclear(...choices));
});

test.each([
  ['1.850,00', 1850],
  ['2.450 $', 2450],
  ['1,5', 1.5],
  ['1850,5', 1850.5],
])('%s is a number on a German page', (text, value) => {
  expect(de.readNumber(text)).toEqual(read(value));
});

test.each([
  ['1,850', [1850, 1.85]],
  ['1,850.00', [1850]],
  ['1850.5', [1850.5]],
])('%s is asked about on a German page', (text, choices) => {
  expect(de.readNumber(text)).toEqual(unclear(...choices));
});

test('French and Swiss groups are read, foreign separators asked about', () => {
  expect(numberReader('fr-FR').readNumber('1\u202f850,5')).toEqual(read(1850.5));
  expect(numberReader('fr-FR').readNumber('1.850')).toEqual(unclear(1.85, 1850));
  expect(numberReader('de-CH').readNumber('1’850.50')).toEqual(read(1850.5));
});

test('Arabic digits and separators are read', () => {
  expect(numberReader('ar-EG').readNumber('١٬٨٥٠٫٥')).toEqual(read(1850.5));
});

test.each(['cheap', '1,85,0', '1.2.3', '1,2,3', '1e3', '$', '1850.5.0', '5-', '1,850 850'])(
  '“%s” is not a number',
  (text) => {
    expect(us.readNumber(text)).toEqual({ state: 'invalid' });
  },
);

test('nothing is not a fault', () => {
  expect(us.readNumber(' ')).toEqual({ state: 'empty' });
});

test('degrees have no groups, so that a point and a comma mean the same', () => {
  for (const reader of [us, de])
    for (const text of ['30.267', '30,267', ' 30.267° ']) expect(reader.readDegrees(text)).toEqual(read(30.267));
  expect(us.readDegrees('-97.7431')).toEqual(read(-97.7431));
  expect(us.readDegrees('30.2.1')).toEqual({ state: 'invalid' });
});

test.each([1850.5, 1234567, 0, 0.0001, -97.743123, 1.855])(
  '%d is read again as it was written into an input',
  (value) => {
    for (const locale of ['en-US', 'de-DE', 'fr-FR', 'hi-IN', 'ar-EG', 'de-CH', 'es-ES']) {
      const reader = numberReader(locale);
      expect(reader.readNumber(reader.toInput(value))).toEqual(read(value));
    }
  },
);

test('the question names both numbers in the language of the page', () => {
  expect(us.explain(us.readNumber('1.850'))).toBe('Do you mean 1,850 or 1.85?');
  expect(de.explain(de.readNumber('1,850'))).toBe('Do you mean 1.850 or 1,85?');
  expect(us.explain(us.readNumber('cheap'))).toBe('Enter a number, such as 1,850.50.');
  expect(us.explain(us.readNumber('5'))).toBeUndefined();
});
