import { expect, test } from 'vitest';
import { isInState, locateIn } from './land';
import { readAtlas } from './read-atlas';

const states = readAtlas('us-atlas/states-10m.json');
const countries = readAtlas('world-atlas/countries-50m.json');

test.each([
  ['Austin', 30.2672, -97.7431, 'Texas'],
  ['Honolulu', 21.3069, -157.8583, 'Hawaii'],
  ['Key West', 24.5551, -81.78, 'Florida'],
])('%s is in its state', (_, latitude, longitude, state) => {
  expect(locateIn([latitude, longitude], states, countries)).toEqual({ state, isOnLand: true });
});

test('other countries are land, oceans are not', () => {
  expect(locateIn([48.1374, 11.5755], states, countries)).toEqual({ isOnLand: true });
  for (const [latitude, longitude] of [
    [0, 0],
    [30, -60],
    [25, -90],
    [30.2672, 97.7431 + 60],
  ] as const)
    expect(locateIn([latitude, longitude], states, countries)).toEqual({ isOnLand: false });
});

test('a pier is at the coast', () => {
  expect(locateIn([34.0083, -118.4988], states, countries).isOnLand).toBe(true);
});

test('a pin of another state is noticed, one at the border is not', () => {
  expect(isInState([30.2672, -97.7431], 'Texas', states)).toBe(true);
  expect(isInState([39.7392, -104.9903], 'Texas', states)).toBe(false);
  expect(isInState([33.43, -94.02], 'Texas', states)).toBe(true);
});

test('the polar sea is no land of a country across the antimeridian', () => {
  for (const longitude of [-170, -150, -30, -10, 10, 160])
    expect(locateIn([-17, longitude], states, countries), `${longitude}, level with Fiji`).toEqual({ isOnLand: false });
  expect(locateIn([78, -165], states, countries)).toEqual({ isOnLand: false });
  expect(locateIn([71, -179.5], states, countries).isOnLand).toBe(true);
  expect(locateIn([-88, 170], states, countries).isOnLand).toBe(true);
});
