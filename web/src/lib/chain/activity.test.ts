import { expect, test } from 'vitest';
import { isOf } from './activity';

const transaction = { hash: '0x1', status: 'mined', from: '0xAB', nonce: 1, contract: 'ListingRegistry' };

test('a transaction belongs to its sender and to the contract that it calls', () => {
  expect(isOf(transaction, '0xab', undefined)).toBe(true);
  expect(isOf(transaction, '0xcd', 'listingRegistry')).toBe(true);
  expect(isOf(transaction, '0xcd', 'identityToken')).toBe(false);
  expect(isOf({ ...transaction, contract: undefined }, '0xcd', undefined)).toBe(false);
});
