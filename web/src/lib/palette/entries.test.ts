import { expect, test, vi } from 'vitest';
import { fillPattern, type Params } from '../router/match';
import { chainEntries, fixedEntries, matchEntries } from './entries';

// The router needs a window.
vi.mock('../router/router.svelte', () => ({
  href: (pattern: string, params: Params = {}) => `/console${fillPattern(pattern, params)}`,
}));

const entries = fixedEntries({ toggleTheme: () => undefined, showShortcuts: () => undefined });
const labels = (query: string) => matchEntries(entries, query).map(({ label }) => label);

test('entries are found by word beginnings, without accents', () => {
  expect(labels('portfolio new')).toEqual(['New portfolio']);
  expect(labels('DÁRK')).toEqual(['Switch between light and dark']);
  expect(labels('csv')).toEqual(['Import devices from a CSV file']);
  expect(labels('nothing like it')).toEqual([]);
  expect(labels('')).toHaveLength(entries.length);
});

test('a match of the label comes before one of other words', () => {
  expect(labels('li')[0]).toBe('Listings');
});

test('text that names something on the chain offers it', () => {
  const ids = (query: string) => chainEntries(query).map(({ id }) => id);
  expect(ids('17')).toEqual(['block', 'listing', 'listing-record']);
  expect(ids(`0x${'a'.repeat(64)}`)).toEqual(['hash', 'listing', 'listing-record']);
  expect(ids(`0x${'a'.repeat(40)}`)[0]).toBe('address');
  expect(chainEntries('a/b ?')[0]?.href).toBe('/console/listings/a%2Fb%20%3F');
});
