import { expect, test } from 'vitest';
import { emptyValues, toRequestBody, validateNumbers, parseNumber } from './body';

test('empty fields are left out, numbers become numbers', () => {
  const values = { ...emptyValues(), addressStreet: '12 Oak Street', monthlyPayment: '$1,850.50', latitude: '-30.5' };
  expect(toRequestBody(values, 'ada')).toEqual({
    userId: 'ada',
    addressStreet: '12 Oak Street',
    monthlyPayment: 1850.5,
    latitude: -30.5,
  });
});

test('fields that are not numbers are reported', () => {
  expect(validateNumbers({ ...emptyValues(), minCredit: 'high', minIncome: '55 000' })).toEqual({
    minCredit: 'Must be a number.',
  });
  expect(parseNumber('  ')).toBeNaN();
});
