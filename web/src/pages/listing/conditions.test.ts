import { expect, test } from 'vitest';
import { termItems } from './conditions';

test('only terms that ask for something are shown', () => {
  expect(termItems({ minCredit: 620, prefCredit: 620, minIncome: 0, prefIncome: 50000 }, 'USD')).toEqual([
    { label: 'Minimum credit', value: '620' },
    { label: 'Preferred credit', value: '620' },
    { label: 'Preferred income', value: '$50,000' },
  ]);
  expect(termItems(null, 'USD')).toEqual([]);
});
