import { expect, test } from 'vitest';
import { buildChips, parseConditions, parseOrder } from './search';

const of = (text: string) => parseConditions(new URLSearchParams(text));

test('a URL query is parsed into conditions', () => {
  expect(of('q=oak&minRent=900&maxRent=2000.5&beds=2&baths=1')).toEqual({
    searchTerm: 'oak',
    minRent: 900,
    maxRent: 2000.5,
    bedrooms: 2,
    bathrooms: 1,
  });
  expect(of('minBeds=2')).toEqual({ minBedrooms: 2 });
  expect(of('near=30.2,-97.7')).toEqual({ near: '30.2,-97.7', radiusKm: 10 });
  expect(of('near=30.2,-97.7&km=25')).toEqual({ near: '30.2,-97.7', radiusKm: 25 });
  expect(of('area=-98,30,-97,31')).toEqual({ bbox: '-98,30,-97,31' });
});

test('invalid query values are ignored', () => {
  expect(of('q=%20&minRent=x&maxRent=-1&beds=&near=1&area=1,2,3,&km=5')).toEqual({});
});

test('chips describe filters and clear their own parameters', () => {
  const chips = buildChips(of('minRent=900&maxRent=2000&beds=1&baths=2&near=1,2&area=1,2,3,4'), 'USD');
  expect(chips.map(({ text }) => text)).toEqual([
    '$900 to $2,000',
    '1 bedroom',
    '2 bathrooms',
    'Within 10 km',
    'In the chosen area',
  ]);
  expect(chips[0]?.clears).toEqual({ minRent: undefined, maxRent: undefined });
  expect(buildChips(of('minBeds=2'), 'USD').map(({ text }) => text)).toEqual(['2 bedrooms or more']);
  expect(buildChips(of('beds=0&maxRent=5'), 'USD').map(({ text }) => text)).toEqual(['Up to $5', 'Studio']);
});

test('homes are sorted by what the query names, else the newest come first', () => {
  const orders = ['', 'sort=rent', 'sort=size', 'sort=newest', 'sort=cheap'].map((text) =>
    parseOrder(new URLSearchParams(text)),
  );
  expect(orders).toEqual(['newest', 'rent', 'size', 'newest', 'newest']);
});
