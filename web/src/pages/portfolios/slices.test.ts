import { expect, test } from 'vitest';
import { toProtocolSlices } from './slices';

const item = (protocolName: string, allocationPercentage: number) => ({ protocolName, allocationPercentage });

test('rows of the same protocol are one slice', () => {
  expect(toProtocolSlices([item('Helium', 0.1), item('DIMO', 5), item('Helium', 0.2)])).toEqual([
    { label: 'Helium', value: 0.3, color: 'var(--network-19)' },
    { label: 'DIMO', value: 5, color: 'var(--network-10)' },
  ]);
});

test('slices that do not fit are merged', () => {
  const slices = toProtocolSlices(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => item(name, 10)));
  expect(slices).toHaveLength(6);
  expect(slices.at(-1)).toEqual({ label: '2 others', value: 20, color: 'var(--line-strong)' });
});
