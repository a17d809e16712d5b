import { expect, test } from 'vitest';
import { m } from './generated/messages.js';
import { pickLanguage, pickLocale } from './language';
import { toPieces } from './pieces';

test.each([
  ['es', ['en-US'], 'es'],
  [null, ['es-MX', 'es', 'en'], 'es'],
  [null, ['de-DE', 'ES-ar', 'en-GB'], 'es'],
  [null, ['en-GB', 'es'], 'en'],
  [null, ['de-DE'], 'en'],
  [null, [], 'en'],
  ['tlh', ['es'], 'es'],
  ['', ['fr'], 'en'],
] as const)('the language of the choice %s and the browser %s is %s', (saved, preferred, language) => {
  expect(pickLanguage(saved, preferred)).toBe(language);
});

test.each([
  ['es', ['en-US', 'es-MX', 'es-ES'], 'es-MX'],
  ['en', ['de-DE', 'en-GB'], 'en-GB'],
  ['en', ['de-DE'], 'en'],
  ['es', ['en-US'], 'es'],
] as const)('the locale of %s in the browser %s is %s', (language, preferred, locale) => {
  expect(pickLocale(language, preferred)).toBe(locale);
});

test('plural forms follow the language', () => {
  const home = (count: number, locale: 'en' | 'es') => m.saved_lead_counted({ count, n: String(count) }, { locale });
  expect(home(1, 'en')).toBe('1 home you want to come back to.');
  expect(home(0, 'en')).toBe('0 homes you want to come back to.');
  expect(home(1, 'es')).toBe('1 vivienda a la que quiere volver.');
  expect(home(2, 'es')).toBe('2 viviendas a las que quiere volver.');
  // Spanish has a form of its own for a million.
  expect(home(1_000_000, 'es')).toBe('1000000 viviendas a las que quiere volver.');
});

test('a message with marks has pieces, and text of people stays text', () => {
  const parts = m.rental_history_change.parts({ before: '{#value}<b>', after: 'two' });
  expect(toPieces(parts)).toEqual([
    { text: 'from ' },
    { name: 'value', text: '{#value}<b>' },
    { text: ' to ' },
    { name: 'value', text: 'two' },
  ]);
});
