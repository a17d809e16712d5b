import { expect, test } from 'vitest';
import { checkBasis, toDecision } from './decision';

test('an approval has no basis, and an empty note is left out', () => {
  expect(toDecision('approved', 'report', ['eviction'], ' ')).toEqual({ decision: 'approved' });
  expect(checkBasis('approved', '', [])).toEqual({});
});

test('a decline names its checks, and the note is one line', () => {
  expect(toDecision('declined', 'report', ['eviction', 'income'], 'Thank you\nfor applying')).toEqual({
    decision: 'declined',
    reasons: ['eviction', 'income'],
    note: 'Thank you for applying',
  });
});

test('a decision that rests on no report names no checks', () => {
  expect(toDecision('conditional', 'no_report', ['eviction'], '')).toEqual({
    decision: 'conditional',
    basis: 'no_report',
  });
});

test('an adverse decision has to say what it rests on', () => {
  for (const name of ['declined', 'conditional'] as const) {
    expect(checkBasis(name, '', ['eviction'])).toHaveProperty('basis');
    expect(checkBasis(name, 'report', [])).toHaveProperty('reasons');
    expect(checkBasis(name, 'report', ['eviction'])).toEqual({});
    expect(checkBasis(name, 'no_report', [])).toEqual({});
  }
});
