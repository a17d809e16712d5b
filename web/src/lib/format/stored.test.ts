import { expect, test } from 'vitest';
import { toStoredDetails, safeLink } from './stored';

const record = {
  ListingId: { S: 'oak-12' },
  UserId: { S: 'ada' },
  StreetAddress: { S: '12 Oak Street' },
  City: { S: 'Austin' },
  State: { S: 'TX' },
  PostalCode: { S: '78701' },
  Country: { S: 'US' },
  MonthlyRent: { N: '2100.25' },
  PropertyValue: { N: '0' },
  Latitude: { N: '30.2672' },
  Longitude: { N: '-97.7431' },
  walkthroughLink: { S: '' },
};

test('a stored record becomes plain details', () => {
  expect(toStoredDetails(record)).toMatchObject({ id: 'oak-12', rent: 2100.25, place: [30.2672, -97.7431] });
});

test('a listing without coordinates has no place', () => {
  const nowhere = { ...record, Latitude: { NULL: true as const }, Longitude: { NULL: true as const } };
  expect(toStoredDetails(nowhere).place).toBeUndefined();
});

test('only web addresses become links', () => {
  expect(safeLink('https://example.org/tour')).toBe('https://example.org/tour');
  expect(safeLink('javascript:alert(1)')).toBeUndefined();
  expect(safeLink('data:text/html,x')).toBeUndefined();
  expect(safeLink('not a link')).toBeUndefined();
});
