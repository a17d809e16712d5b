import { expect, test } from 'vitest';
import { contractOf, ether, isHash, isNumber } from './words';

test('a balance in wei becomes ether', () => {
  expect(ether('1500000000000000000')).toBe(1.5);
  expect(ether('999999999999999999962953039')).toBeCloseTo(1e9, 0);
  expect(ether('0')).toBe(0);
});

test('a contract is found by its name in transactions', () => {
  expect(contractOf('IdentityToken')?.label).toBe('Identity token');
  expect(contractOf('Elsewhere')).toBeUndefined();
});

test('hashes and block numbers are recognised', () => {
  expect(isHash(`0x${'aB'.repeat(32)}`)).toBe(true);
  expect(isHash('0x12')).toBe(false);
  expect(isNumber('12')).toBe(true);
  expect(isNumber('1e3')).toBe(false);
  expect(isNumber('-1')).toBe(false);
});
