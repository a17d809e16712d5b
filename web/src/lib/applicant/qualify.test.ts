import { expect, test } from 'vitest';
import type { Application, VerificationCheck } from '../api';
import { knownRanges, qualify } from './qualify';

const NOW = new Date('2026-05-20T12:00:00Z');
const TERMS = { minCredit: 620, prefCredit: 700, minIncome: 50_000, prefIncome: 0 };

const finding = (check: string, expiresAt = '2026-06-01T00:00:00Z') => ({ check, expiresAt }) as VerificationCheck;
const BOTH = [finding('softCredit'), finding('income')];

function application(more: object = {}): Application {
  return {
    complete: true,
    expiresAt: '2026-06-01T00:00:00Z',
    flagsWithheld: false,
    checks: [{ check: 'softCredit', status: 'passed' }],
    terms: { minCredit: 600, prefCredit: 680, minIncome: 40_000, prefIncome: 0 },
    flags: { passMinCredit: true, passPrefCred: false, passMinIncome: false, passPrefIncome: false },
    ...more,
  } as unknown as Application;
}

const answers = (checks: VerificationCheck[], applications: Application[] = [], income?: number, terms = TERMS) =>
  Object.fromEntries(
    qualify(terms, { checks, ranges: knownRanges(applications, income, NOW) }, NOW).map(({ term, answer }) => [
      term,
      answer,
    ]),
  );

test('without a finding a term is not checked, and an expired one says so', () => {
  expect(answers([finding('softCredit', '2026-05-20T12:00:00Z')])).toEqual({
    minCredit: 'expired',
    prefCredit: 'expired',
    minIncome: 'not_checked',
  });
});

test('the income is compared exactly', () => {
  expect(answers(BOTH, [], 50_000).minIncome).toBe('met');
  expect(answers(BOTH, [], 49_999.99).minIncome).toBe('not_met');
  expect(answers(BOTH).minIncome).toBe('unknown');
});

test('a score is known from the flags of other applications alone', () => {
  expect(answers(BOTH).minCredit).toBe('unknown');
  // At least 600 and below 680.
  expect(answers(BOTH, [application()])).toMatchObject({ minCredit: 'unknown', prefCredit: 'not_met' });
  expect(answers(BOTH, [application()], undefined, { ...TERMS, minCredit: 600 }).minCredit).toBe('met');
});

test('flags that expired, are withheld or incomplete, or without the check, say nothing', () => {
  for (const more of [
    { complete: false },
    { flagsWithheld: true },
    { expiresAt: undefined },
    { expiresAt: '2026-05-20T00:00:00Z' },
  ])
    expect(answers(BOTH, [application(more)]).prefCredit).toBe('unknown');
  // The income was not required there: its false flag is no finding.
  expect(knownRanges([application()], undefined, NOW).income.below).toBe(Infinity);
});
