import { expect, test } from 'vitest';
import { noteOf } from './notes';

const note = (name: string, value: string, event = 'Recorded') => noteOf({ name, type: '', value }, { name: event });

test('cents, flags and reasons are said in words', () => {
  expect(note('minIncome', '5500050')).toContain('55,000.5');
  expect(note('flags', '5')).toBe('minimum credit, minimum income');
  expect(note('flags', '0')).toBe('none met');
  expect(note('reason', '4', 'Rejected')).toBe('the credit score is above 1000');
  expect(note('reason', '99', 'Rejected')).toBeUndefined();
});

test('seconds are a date, unless there is none or it is out of range', () => {
  expect(note('expiresAt', '1900000000')).toContain('2030');
  expect([note('expiresAt', '0'), note('expiresAt', '18446744073709551615'), note('key', '1')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
