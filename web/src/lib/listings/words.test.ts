import { expect, test } from 'vitest';
import type { ApplicationState, Check, CheckOutcome, CheckStatus } from '../api';
import { checksToRun, checkWord, findingWord, formatChecks, namableChecks } from './checks';
import { changeWords } from './history';
import { flagWords, hasFlags, withheldHint } from './words';

const none = { passMinCredit: false, passPrefCred: false, passMinIncome: false, passPrefIncome: false };
const state = (
  checks: Partial<Record<Check, CheckStatus>>,
  more: Partial<ApplicationState> = {},
): ApplicationState => ({
  checks: (Object.entries(checks) as [Check, CheckStatus][]).map(([check, status]) => ({ check, status })),
  complete: false,
  flags: none,
  flagsWithheld: false,
  ...more,
});
const words = (of: ApplicationState) => flagWords(of).map(({ word }) => word);

test('flags of a complete application are met or not met', () => {
  const complete = state(
    { income: 'passed', softCredit: 'passed' },
    { complete: true, expiresAt: '2026-12-18T00:00:00Z', flags: { ...none, passMinCredit: true, passMinIncome: true } },
  );
  expect(words(complete)).toEqual(['met', 'not met', 'met', 'not met']);
});

test('false flags of an incomplete application are not checked', () => {
  expect(words(state({ eviction: 'missing', income: 'passed', softCredit: 'passed' }))).toEqual(
    Array(4).fill('not checked'),
  );
});

test('flags expire with a finding, but a missing one was never checked', () => {
  expect(words(state({ eviction: 'expired', income: 'passed', softCredit: 'passed' }))).toEqual(
    Array(4).fill('expired'),
  );
  expect(words(state({ income: 'missing', softCredit: 'expired' }))).toEqual([
    'expired',
    'expired',
    'not checked',
    'not checked',
  ]);
});

test('flags expire at the beginning of the day on which a finding expires', () => {
  expect(words(state({ softCredit: 'passed' }, { complete: true }))).toEqual(Array(4).fill('expired'));
});

test('without a required check and a verification nothing is checked', () => {
  expect(words(state({}, { complete: true }))).toEqual(Array(4).fill('not checked'));
});

test('withheld flags are not checked, and a sentence says why', () => {
  const withheld = state({ eviction: 'passed' }, { complete: true, flagsWithheld: true });
  expect(words(withheld)).toEqual(Array(4).fill('not checked'));
  expect(withheldHint(withheld, false)).toContain('asked for about this applicant');
  expect(withheldHint(withheld, true)).toContain('asked for about you');
  expect(withheldHint(state({}), true)).toBeUndefined();
});

test('there are no flags without terms, and none once the sharing has ended', () => {
  const terms = { minCredit: 620, prefCredit: 700, minIncome: 0, prefIncome: 0 };
  const sharing = { userId: 'ada', accountId: 'ada', active: true };
  expect(hasFlags({ terms, sharing })).toBe(true);
  expect(hasFlags({ terms, sharing: { ...sharing, active: false } })).toBe(false);
  expect(hasFlags({ terms: null, sharing })).toBe(false);
});

test('a decision can name checks with a valid finding, whatever it says', () => {
  const { checks } = state({
    eviction: 'disputed',
    income: 'expired',
    softCredit: 'not_passed',
    criminalBackground: 'missing',
  });
  expect(namableChecks(checks).map(({ check }) => check)).toEqual(['eviction', 'softCredit']);
  expect(checksToRun(checks).map(({ check }) => check)).toEqual(['income', 'criminalBackground']);
});

test('checks and their states have words', () => {
  const inWords = (status: CheckStatus) => checkWord({ check: 'softCredit', status }).word;
  expect((['passed', 'not_passed', 'missing', 'expired', 'disputed'] as const).map(inWords)).toEqual([
    'Passed',
    'Not passed',
    'Not checked',
    'Expired',
    'Disputed',
  ]);
  expect(checkWord({ check: 'softCredit', status: 'passed' }).label).toBe('Credit');
  expect(formatChecks(['eviction', 'softCredit'])).toBe('eviction and credit');
});

test('a finding is passed, not passed, not checked or expired', () => {
  const now = new Date('2026-12-18T00:00:00Z');
  const finding = (outcome: CheckOutcome, expiresAt: string) => findingWord({ outcome, expiresAt }, now);
  expect(findingWord(undefined, now)).toEqual({ word: 'Not checked', tone: 'plain' });
  expect(finding('passed', '2026-12-19T00:00:00Z')).toEqual({ word: 'Passed', tone: 'good' });
  expect(finding('failed', '2026-12-19T00:00:00Z')).toEqual({ word: 'Not passed', tone: 'bad' });
  expect(finding('failed', '2026-12-18T00:00:00Z')).toEqual({ word: 'Expired', tone: 'warn' });
});

test('an edit tells what changed, of the terms only what differs', () => {
  expect(changeWords({ field: 'monthlyRent', before: 1850, after: null }, 'USD')).toEqual([
    { label: 'Monthly rent', before: '$1,850', after: 'none' },
  ]);
  expect(changeWords({ field: 'status', before: 'active', after: 'paused' }, 'USD')).toEqual([
    { label: 'Status', before: 'Active', after: 'Paused' },
  ]);
  const terms = { minCredit: 620, prefCredit: 700, minIncome: 0, prefIncome: 0 };
  expect(changeWords({ field: 'terms', before: terms, after: { ...terms, minIncome: 50000 } }, 'USD')).toEqual([
    { label: 'Minimum income', before: 'none', after: '$50,000' },
  ]);
});
