import { expect, test } from 'vitest';
import { changeWords } from './history';

const item = (protocolName: string, allocationPercentage: number, protocolIdentifier = protocolName) => ({
  protocolName,
  protocolIdentifier,
  allocationPercentage,
});

test('a field has its name and both values', () => {
  expect(changeWords({ field: 'name', before: null, after: 'Storage' })).toEqual([
    { label: 'Name', before: 'none', after: 'Storage' },
  ]);
  expect(changeWords({ field: 'riskLevel', before: 'Moderate', after: 'Aggressive' })).toEqual([
    { label: 'Risk', before: 'Moderate', after: 'Aggressive' },
  ]);
});

test('protocols are told by network, only where the share differs', () => {
  const before = [item('Helium', 50), item('Filecoin', 30)];
  const after = [item('Helium', 62.5), item('Filecoin', 30), item('Render', 5)];
  expect(changeWords({ field: 'protocolItems', before, after })).toEqual([
    { label: 'Helium', before: '50%', after: '62.5%' },
    { label: 'Render', before: 'none', after: '5%' },
  ]);
  expect(
    changeWords({ field: 'protocolItems', before, after: [item('Helium', 50, 'hnt'), item('Filecoin', 30)] }),
  ).toEqual([]);
});
