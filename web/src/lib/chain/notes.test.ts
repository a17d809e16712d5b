import { expect, test } from 'vitest';
import type { ContractKey } from './abi';
import { noteOf } from './notes';

const note = (name: string, value: string, event = 'Recorded', contract: ContractKey = 'applicationChecks') =>
  noteOf({ name, type: '', value }, { contract, name: event });

test('cents and reasons are said in words', () => {
  expect(note('minIncome', '5500050')).toContain('55,000.5');
  expect(note('reason', '4', 'Rejected')).toBe('the credit score is above 1000');
  expect(['1', '7', '8', '9'].map((reason) => note('reason', reason, 'Rejected'))).toEqual([
    'the key is zero',
    'there is no holder',
    'there is no expiry',
    'the version is too far ahead',
  ]);
  expect(note('reason', '99', 'Rejected')).toBeUndefined();
});

test('a day is a date, unless there is none or it is out of range', () => {
  expect(note('expiryDay', '21991')).toMatch(/20(30|29)/);
  expect(['0', '4294967295'].map((day) => note('expiryDay', day))).toEqual([undefined, undefined]);
  expect(note('key', '1')).toBeUndefined();
});

test('an empty commitment of an application is cleared, another one says nothing', () => {
  const empty = `0x${'00'.repeat(20)}`;
  expect(note('commitment', empty, 'record')).toBe('cleared: nothing is attested');
  expect(note('commitment', `0x${'12'.repeat(20)}`, 'record')).toBeUndefined();
  expect(note('commitment', empty, 'record', 'identityToken')).toBeUndefined();
});
