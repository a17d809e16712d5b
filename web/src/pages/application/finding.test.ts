import { expect, test } from 'vitest';
import type { ApplicationCheckState, Verification } from '$lib/api';
import { resultOfFinding } from './finding';

const result = (id: string, check: string, expiresAt: string) =>
  ({ id, checks: [{ check, expiresAt }] }) as unknown as Verification;

test('the newest result with the finding is found, and no other one', () => {
  const results = [
    result('old', 'eviction', '2026-01-31T00:00:00Z'),
    result('shared', 'eviction', '2026-02-28T00:00:00Z'),
    result('again', 'eviction', '2026-02-28T00:00:00Z'),
    result('other', 'income', '2026-02-28T00:00:00Z'),
  ];
  const state: ApplicationCheckState = { check: 'eviction', status: 'passed', expiresAt: '2026-02-28T00:00:00Z' };
  expect(resultOfFinding(results, state)?.id).toBe('again');
  expect(resultOfFinding(results, { ...state, check: 'softCredit' })).toBeUndefined();
});
