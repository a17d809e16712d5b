import { expect, test } from 'vitest';
import type { Check, CheckStatus, Qualification, Term, TermStatus } from '$lib/api';
import { askedTerms, conclude, needsVerification, validUntil } from './qualification';

function answer(
  terms: Partial<Record<Term, TermStatus>>,
  checks: Partial<Record<Check, CheckStatus>> = {},
): Qualification {
  return {
    terms: (Object.entries(terms) as [Term, TermStatus][]).map(([term, status]) => ({ term, value: 600, status })),
    checks: (Object.entries(checks) as [Check, CheckStatus][]).map(([check, status]) => ({ check, status })),
  };
}

test('a term of zero asks for nothing', () => {
  const zero: Qualification = { terms: [{ term: 'minCredit', value: 0, status: 'met' }], checks: [] };
  expect(askedTerms(zero)).toEqual([]);
  expect(conclude(zero)).toBe('nothing');
  expect(conclude(answer({}))).toBe('nothing');
});

test('a minimum that is not met comes before everything else', () => {
  const below = answer({ minCredit: 'not_met', minIncome: 'not_checked' }, { eviction: 'not_passed' });
  expect(conclude(below)).toBe('below');
  expect(needsVerification(below)).toBe(true);
});

test('only minimums have to be met', () => {
  expect(conclude(answer({ minCredit: 'met', prefCredit: 'not_met' }))).toBe('yes');
});

test('a required check that is not passed or disputed is said', () => {
  for (const status of ['not_passed', 'disputed'] as const)
    expect(conclude(answer({ minCredit: 'met' }, { eviction: status }))).toBe('failed');
});

test('what is not checked or expired needs a verification', () => {
  expect(conclude(answer({ prefIncome: 'not_checked' }))).toBe('unknown');
  for (const status of ['missing', 'expired'] as const)
    expect(conclude(answer({}, { income: status }))).toBe('unknown');
});

test('the answer holds until the first required finding expires', () => {
  const passed = (check: Check, day: string) => ({
    check,
    status: 'passed' as const,
    expiresAt: `2026-12-${day}T00:00:00Z`,
  });
  const valid = { ...answer({ minCredit: 'met' }), checks: [passed('income', '18'), passed('softCredit', '02')] };
  expect(conclude(valid)).toBe('yes');
  expect(validUntil(valid)).toBe('2026-12-02T00:00:00Z');
  expect(validUntil({ ...valid, terms: answer({ prefIncome: 'not_checked' }).terms })).toBeUndefined();
  expect(validUntil(answer({ minCredit: 'met' }))).toBeUndefined();
});
