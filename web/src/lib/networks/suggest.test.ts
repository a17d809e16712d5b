import { expect, test } from 'vitest';
import { suggestNames } from './suggest';

test('names in use come first, in their spelling', () => {
  expect(suggestNames('', ['HELIUM', 'My net', 'helium']).slice(0, 3)).toEqual(['HELIUM', 'My net', 'Aethir']);
  expect(suggestNames('hel', ['HELIUM'])).toEqual(['HELIUM']);
});

test('beginnings come first, and what is typed is not suggested', () => {
  expect(suggestNames('ar', [])).toEqual(['Arweave']);
  expect(suggestNames('io', []).slice(0, 2)).toEqual(['io.net', 'IoTeX']);
  expect(suggestNames('Helium', [])).toEqual([]);
  expect(suggestNames('helium', [])).toEqual(['Helium']);
  expect(suggestNames('nothing like it', [])).toEqual([]);
});

test('the list is short', () => {
  expect(suggestNames('', [])).toHaveLength(8);
});
