import { expect, test } from 'vitest';
import { findContract, weiToEther } from './labels';

test('a balance in wei becomes ether', () => {
  expect(weiToEther('1500000000000000000')).toBe(1.5);
  expect(weiToEther('999999999999999999962953039')).toBeCloseTo(1e9, 0);
  expect(weiToEther('0')).toBe(0);
});

test('a contract is found by its name in transactions', () => {
  expect(findContract('IdentityToken')?.label).toBe('Identity token');
  expect(findContract('Elsewhere')).toBeUndefined();
});
