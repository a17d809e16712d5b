import { expect, test } from 'vitest';
import { knownNetworks, otherSpelling } from './networks';

test('the spelling in use comes before the common one', () => {
  expect(knownNetworks(['HELIUM', 'My net', 'HELIUM'])).toEqual(expect.arrayContaining(['HELIUM', 'My net', 'DIMO']));
  expect(knownNetworks(['HELIUM'])).not.toContain('Helium');
});

test('another spelling of a known network is found', () => {
  const known = knownNetworks(['My net']);
  expect(otherSpelling('helium', known)).toBe('Helium');
  expect(otherSpelling(' my-NET ', known)).toBe('My net');
  expect(otherSpelling('Helium', known)).toBeUndefined();
  expect(otherSpelling('Heliums', known)).toBeUndefined();
  expect(otherSpelling('', known)).toBeUndefined();
});
