import { expect, test } from 'vitest';
import { allocated, bodyOf, checkDraft, draftOf, newItem } from './draft';

const source = {
  name: 'Storage first',
  riskLevel: 'Moderate',
  protocolItems: [
    { protocolName: 'Filecoin', protocolIdentifier: 'fil', allocationPercentage: 62.5 },
    { protocolName: 'Helium', protocolIdentifier: 'hnt', allocationPercentage: 37.5 },
  ],
};

test('an unchanged draft produces the same body', () => {
  const draft = draftOf(source);
  expect(checkDraft(draft)).toEqual({});
  expect(bodyOf(draft)).toEqual({ ...source, description: '' });
});

test('all errors are reported by field', () => {
  const draft = draftOf();
  draft.protocolItems = [newItem(), newItem({ protocolName: 'Helium', allocationPercentage: '1.23456' })];
  expect(Object.keys(checkDraft(draft)).sort()).toEqual([
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
  const draft = draftOf(source);
  expect(allocated(draft.protocolItems)).toBe(1_000_000);
  draft.protocolItems.push(newItem({ protocolName: 'a', protocolIdentifier: 'b', allocationPercentage: '0.0001' }));
  expect(checkDraft(draft)).toEqual({ protocolItems: 'Shares add up to more than 100%.' });
});

test('a description of several lines becomes one', () => {
  expect(bodyOf({ ...draftOf(source), description: ' one \n\n two ' }).description).toBe('one two');
});
