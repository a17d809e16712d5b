// What became of a key, whether it ends soon, and for whom it acts.
import type { Key } from '$lib/api';

export type KeyState = 'active' | 'expiring' | 'expired' | 'revoked';

const SOON_MS = 7 * 86_400_000;

export function keyState({ revokedAt, expiresAt }: Pick<Key, 'revokedAt' | 'expiresAt'>, now: Date): KeyState {
  if (revokedAt) return 'revoked';
  if (!expiresAt) return 'active';
  const leftMs = Date.parse(expiresAt) - now.getTime();
  if (leftMs <= 0) return 'expired';
  return leftMs <= SOON_MS ? 'expiring' : 'active';
}

/** `you`: for the signed-in user alone. A scope that the console does not know stays as the service says it. */
export function keyScope({ scope, owner }: Pick<Key, 'scope' | 'owner'>, userId: string): string {
  return scope === 'user' && owner === userId ? 'you' : scope;
}

/** Choices for a new key. */
export const EXPIRY_DAYS = [30, 90, 365] as const;

/** Undefined for a key that never expires. */
export function expiryOf(days: string, now: Date): string | undefined {
  const count = Number(days);
  return count > 0 ? new Date(now.getTime() + count * 86_400_000).toISOString() : undefined;
}
