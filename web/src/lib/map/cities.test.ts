import { expect, test } from 'vitest';
import { areasOf } from './atlas';
import { CITIES } from './cities';
import { isInState } from './land';
import { readAtlas } from './read-atlas';

const states = readAtlas('us-atlas/states-10m.json');
const countries = readAtlas('world-atlas/countries-50m.json');

test.each(CITIES.map((city) => [city.name, city] as const))('%s is where it says', (_, { at, within }) => {
  const isState = areasOf(states, 'states').some(({ properties }) => properties.name === within);
  const isCountry = areasOf(countries, 'countries').some(({ properties }) => properties.name === within);
  expect(isState || isCountry, within).toBe(true);
  const isThere =
    (isState && isInState(at, within, states)) || (isCountry && isInState(at, within, countries, 'countries'));
  expect(isThere).toBe(true);
});

test('every name is shown once in its state or country', () => {
  const keys = CITIES.map(({ name, within }) => `${name}, ${within}`);
  expect(new Set(keys).size).toBe(keys.length);
});
