import { expect, test, vi } from 'vitest';
import { readAtlas } from '../map/read-atlas';
import { checkPlace, type Address } from './warnings';

const ATLASES: Record<string, string> = {
  states: 'us-atlas/states-10m.json',
  countries: 'world-atlas/countries-50m.json',
};
vi.mock('../map/atlas', async (original) => ({
  ...(await original<object>()),
  loadAtlas: (name: string) => Promise.resolve(readAtlas(ATLASES[name] ?? '')),
}));

const AUSTIN: [number, number] = [30.2672, -97.7431];
const DENVER: [number, number] = [39.7392, -104.9903];

const warningsOf = async (address: Partial<Address>) =>
  (await checkPlace({ street: '1 Elm', state: 'TX', postalCode: '78701', country: 'US', ...address })).map(
    ({ text }) => text,
  );

test('a pin in its state and postal code is not questioned', async () => {
  expect(await warningsOf({})).toEqual([]);
  expect(await warningsOf({ place: AUSTIN })).toEqual([]);
  expect(await warningsOf({ place: [18.3419, -64.9307], state: 'VI', postalCode: '00802' })).toEqual([]);
});

test('a postal code of another state is questioned without a pin', async () => {
  const text = 'The postal code 80202 belongs to Colorado, not to Texas.';
  expect(await warningsOf({ postalCode: '80202' })).toEqual([text]);
  expect(await warningsOf({ postalCode: ' 80202-1234 ', state: 'texas' })).toEqual([
    'The postal code 80202-1234 belongs to Colorado, not to Texas.',
  ]);
  expect(await warningsOf({ postalCode: '83414' })).toEqual([
    'The postal code 83414 belongs to Idaho or Wyoming, not to Texas.',
  ]);
});

test('a pin in another state than the postal code is questioned once', async () => {
  expect(await warningsOf({ place: DENVER })).toEqual(['The pin is not in Texas.']);
  expect(await warningsOf({ place: AUSTIN, postalCode: '80202' })).toEqual([
    'The postal code 80202 belongs to Colorado, not to Texas.',
    'The pin is not in Colorado, where the postal code 80202 is.',
  ]);
  expect(await warningsOf({ place: DENVER, state: '' })).toEqual([
    'The pin is not in Texas, where the postal code 78701 is.',
  ]);
});

test('military mail is no address of a home', async () => {
  expect(await warningsOf({ postalCode: '09012', place: AUSTIN })).toEqual([
    'The postal code 09012 is for military mail abroad, not for a home.',
  ]);
});

test('a pin at sea is said first', async () => {
  expect(await warningsOf({ place: [25, -90], postalCode: '80202' })).toEqual([
    'The pin is at sea.',
    'The postal code 80202 belongs to Colorado, not to Texas.',
  ]);
});

test('postal codes of other countries are not known', async () => {
  expect(await warningsOf({ country: 'DE', postalCode: '80331', state: 'Bayern', place: [48.1374, 11.5755] })).toEqual(
    [],
  );
});
