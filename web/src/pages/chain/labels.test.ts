import { expect, test } from 'vitest';
import { findContract, weiToEther, isHash, isBlockNumber } from './labels';

test('a balance in wei becomes ether', () => {
  expect(weiToEther('1500000000000000000')).toBe(1.5);
  expect(weiToEther('999999999999999999962953039')).toBeCloseTo(1e9, 0);
  expect(weiToEther('0')).toBe(0);
});

test('a contract is found by its name in transactions', () => {
  expect(findContract('IdentityToken')?.label).toBe('Identity token');
  expect(findContract('Elsewhere')).toBeUndefined();
});

test('hashes and block numbers are recognised', () => {
  expect(isHash(`0x${'aB'.repeat(32)}`)).toBe(true);
  expect(isHash('0x12')).toBe(false);
  expect(isBlockNumber('12')).toBe(true);
  expect(isBlockNumber('1e3')).toBe(false);
  expect(isBlockNumber('-1')).toBe(false);
});
