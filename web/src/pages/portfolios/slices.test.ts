import { expect, test } from 'vitest';
import { slicesOfItems } from './slices';

const item = (protocolName: string, allocationPercentage: number) => ({ protocolName, allocationPercentage });

test('a protocol that stands in two rows is one slice', () => {
  expect(slicesOfItems([item('Helium', 0.1), item('DIMO', 5), item('Helium', 0.2)])).toEqual([
    { label: 'Helium', value: 0.3 },
    { label: 'DIMO', value: 5 },
  ]);
});

test('what there are no colours for is shown together', () => {
  const slices = slicesOfItems(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => item(name, 10)));
  expect(slices).toHaveLength(6);
  expect(slices.at(-1)).toEqual({ label: '2 others', value: 20 });
});
