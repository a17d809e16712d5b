import { expect, test } from 'vitest';
import type { ListingDetails } from '$lib/api';
import { changedNames, summarizeChanges, toChanges, toLine, toValues, validateValues } from './changes';

const listing: ListingDetails = {
  listingId: 'oak-12',
  userId: 'ada',
  streetAddress: '12 Oak Street',
  city: 'Austin',
  state: 'TX',
  postalCode: '78701',
  country: 'US',
  monthlyRent: 1850.5,
  latitude: 30.25,
  longitude: -97.75,
  description: 'Bright',
  status: 'active',
  terms: { minCredit: 620, prefCredit: 700, minIncome: 0, prefIncome: 0 },
  onChain: true,
  version: 1,
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
};
const before = toValues(listing);

test('an unchanged form sends nothing', () => {
  expect(toChanges(before, { ...before })).toEqual({});
  expect(changedNames(before, { ...before, monthlyRent: ' $1,850.50 ', city: 'Austin ' })).toEqual([]);
});

test('only changed fields are sent, and emptied ones are cleared', () => {
  const after = { ...before, monthlyRent: '1,900', description: ' ', availableFrom: '2026-12-01', bedRoomCount: '0' };
  expect(toChanges(before, after)).toEqual({
    monthlyRent: 1900,
    description: null,
    availableFrom: '2026-12-01',
    bedRoomCount: 0,
  });
});

test('an emptied required field is sent, so that the service reports it', () => {
  expect(toChanges(before, { ...before, city: '' })).toEqual({ city: '' });
});

test('place and terms are sent whole', () => {
  expect(toChanges(before, { ...before, latitude: '31' })).toEqual({ latitude: 31, longitude: -97.75 });
  expect(toChanges(before, { ...before, latitude: '', longitude: '' })).toEqual({ latitude: null, longitude: null });
  expect(toChanges(before, { ...before, minIncome: '50 000' })).toEqual({
    terms: { minCredit: 620, prefCredit: 700, minIncome: 50000, prefIncome: null },
  });
  expect(toChanges(before, { ...before, minCredit: '', prefCredit: '' })).toEqual({
    terms: { minCredit: null, prefCredit: null, minIncome: null, prefIncome: null },
  });
});

test('no requirement is an empty field', () => {
  expect(before.minIncome).toBe('');
  expect(toValues({ ...listing, terms: null }).minCredit).toBe('');
});

test('half a place and words for numbers are reported', () => {
  expect(validateValues({ ...before, latitude: '', bedRoomCount: 'two' })).toEqual({
    latitude: 'Enter both latitude and longitude, or neither.',
    bedRoomCount: 'Enter a number, such as 1,850.50.',
  });
  expect(validateValues(before)).toEqual({});
  const old = { ...before, state: 'Texa', postalCode: '787' };
  expect(validateValues(old, old)).toEqual({});
});

test('faults of state, postal code and rent are reported together', () => {
  const after = { ...before, state: 'ZZ', postalCode: '787O1', monthlyRent: '1.900', city: ' ' };
  expect(validateValues(after)).toEqual({
    city: 'Enter the city.',
    state: 'Enter a state, such as TX or Texas.',
    postalCode: 'Enter a postal code of five digits, such as 78701.',
    monthlyRent: 'Do you mean 1,900 or 1.9?',
  });
});

test('the summary shows each change as it was understood', () => {
  const after = { ...before, monthlyRent: '$1,900', latitude: '', longitude: '', minIncome: '50 000' };
  expect(summarizeChanges(before, after, 'USD')).toEqual([
    { label: 'Monthly rent', value: '$1,850.50 → $1,900.00' },
    { label: 'Latitude', value: '30.25 → none' },
    { label: 'Longitude', value: '-97.75 → none' },
    { label: 'Minimum income', value: 'none → $50,000.00' },
  ]);
});

test('line breaks become spaces', () => {
  expect(toLine(' Two rooms,\n\n close to the park\r\n')).toBe('Two rooms, close to the park');
});
