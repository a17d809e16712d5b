import { expect, test } from 'vitest';
import { allocatedUnits, toPortfolioBody, validateDraft, toDraft, newItem } from './draft';

const source = {
  name: 'Storage first',
  riskLevel: 'Moderate',
  protocolItems: [
    { protocolName: 'Filecoin', protocolIdentifier: 'fil', allocationPercentage: 62.5 },
    { protocolName: 'Helium', protocolIdentifier: 'hnt', allocationPercentage: 37.5 },
  ],
};

test('an unchanged draft produces the same body', () => {
  const draft = toDraft(source);
  expect(validateDraft(draft)).toEqual({});
  expect(toPortfolioBody(draft)).toEqual({ ...source, description: '' });
});

test('all errors are reported by field', () => {
  const draft = toDraft();
  draft.protocolItems = [newItem(), newItem({ protocolName: 'Helium', allocationPercentage: '1.23456' })];
  expect(Object.keys(validateDraft(draft)).sort()).toEqual([
    'name',
    'protocolItems/0/allocationPercentage',
    'protocolItems/0/protocolIdentifier',
    'protocolItems/0/protocolName',
    'protocolItems/1/allocationPercentage',
    'protocolItems/1/protocolIdentifier',
    'riskLevel',
  ]);
});

test('more than 100% is an error, exactly 100% is not', () => {
  const draft = toDraft(source);
  expect(allocatedUnits(draft.protocolItems)).toBe(1_000_000);
  draft.protocolItems.push(newItem({ protocolName: 'a', protocolIdentifier: 'b', allocationPercentage: '0.0001' }));
  expect(validateDraft(draft)).toEqual({ protocolItems: 'The shares add up to more than 100%. Lower some of them.' });
});

test('a description of several lines becomes one', () => {
  expect(toPortfolioBody({ ...toDraft(source), description: ' one \n\n two ' }).description).toBe('one two');
});
