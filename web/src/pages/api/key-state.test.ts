import { expect, test } from 'vitest';
import { expiryOf, keyScope, keyState } from './key-state';

test('a key is active, expires soon, is expired or revoked', () => {
  const now = new Date('2026-05-01T00:00:00Z');
  const state = (expiresAt?: string, revokedAt?: string) => keyState({ expiresAt, revokedAt }, now);
  expect(state()).toBe('active');
  expect([state('2027-01-01T00:00:00Z'), state('2026-05-07T00:00:00Z')]).toEqual(['active', 'expiring']);
  expect([state('2026-05-01T00:00:00Z'), state('2027-01-01T00:00:00Z', '2026-04-01T00:00:00Z')]).toEqual([
    'expired',
    'revoked',
  ]);
});

test('a new key expires after the chosen days, or never', () => {
  const now = new Date('2026-05-01T00:00:00Z');
  expect([expiryOf('30', now), expiryOf('never', now)]).toEqual(['2026-05-31T00:00:00.000Z', undefined]);
});

test('a key of the user is for them alone, and others are for whom they say', () => {
  const scopes = (
    [
      { scope: 'user', owner: 'ada' },
      { scope: 'user', owner: 'ben' },
      { scope: 'account', owner: 'ada' },
      { scope: 'operator' },
    ] as const
  ).map((key) => keyScope(key, 'ada'));
  expect(scopes).toEqual(['you', 'user', 'account', 'operator']);
});
