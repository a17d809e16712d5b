import { expect, test } from 'vitest';
import { freeBoxes } from './free-boxes';

test('a later label gives way to an earlier one', () => {
  const at = (name: string, left: number) => ({ name, box: { left, right: left + 50, top: 0, bottom: 10 } });
  const names = [at('Dallas', 0), at('Fort Worth', 40), at('Austin', 60), at('Waco', 90)];
  expect(freeBoxes(names, ({ box }) => box).map(({ name }) => name)).toEqual(['Dallas', 'Austin']);
});
