import { expect, test } from 'vitest';
import { toDecision } from './decision';

test('an approval has no reasons, and an empty note is left out', () => {
  expect(toDecision('approved', ['eviction'], ' ')).toEqual({ decision: 'approved' });
});

test('a decline names its checks, and the note is one line', () => {
  expect(toDecision('declined', ['eviction', 'income'], 'Thank you\nfor applying')).toEqual({
    decision: 'declined',
    reasons: ['eviction', 'income'],
    note: 'Thank you for applying',
  });
});
