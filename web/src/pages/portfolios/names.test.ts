import { expect, test } from 'vitest';
import { freeName } from './names';

test('a copy has a name of its own', () => {
  expect(freeName('Steady storage', [])).toBe('Steady storage');
  expect(freeName('Steady storage', ['steady storage'])).toBe('Steady storage (2)');
  expect(freeName('Steady storage', ['Steady storage', 'Steady storage (2)', 'Steady storage (4)'])).toBe(
    'Steady storage (3)',
  );
});

test('a long name keeps its number within the limit', () => {
  const name = 'x'.repeat(255);
  expect(freeName(name, [name])).toBe(`${'x'.repeat(251)} (2)`);
});
