import { expect, test } from 'vitest';
import { blank, bodyOf, notNumbers, numberOf } from './body';

test('empty fields are left out, numbers become numbers', () => {
  const values = { ...blank(), addressStreet: '12 Oak Street', monthlyPayment: '$1,850.50', latitude: '-30.5' };
  expect(bodyOf(values, 'ada')).toEqual({
    userId: 'ada',
    addressStreet: '12 Oak Street',
    monthlyPayment: 1850.5,
    latitude: -30.5,
  });
});

test('fields that are not numbers are reported', () => {
  expect(notNumbers({ ...blank(), minCredit: 'high', minIncome: '55 000' })).toEqual({
    minCredit: 'Must be a number.',
  });
  expect(numberOf('  ')).toBeNaN();
});
