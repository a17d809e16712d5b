// The user's tokens: those of their results, and those created in this tab, which the API does not list.
import { listVerifications, revokeIdentity } from '$lib/api';

export interface Token {
  id: string;
  caseId: string;
  revoked: boolean;
}

const created = $state<(Token & { userId: string })[]>([]);

export function rememberCreated(userId: string, id: string, caseId: string): void {
  if (!created.some((token) => token.id === id)) created.push({ userId, id, caseId, revoked: false });
}

export async function loadTokens(userId: string, signal: AbortSignal): Promise<Token[]> {
  const ownTokens = created.filter((token) => token.userId === userId);
  const tokens = new Map<string, Token>(ownTokens.map((token) => [token.id, token]));
  for (const { tokenId, caseId, revoked } of await listVerifications({ signal })) {
    tokens.set(tokenId, { id: tokenId, caseId, revoked });
  }
  return [...tokens.values()].reverse();
}

export async function revoke(id: string): Promise<void> {
  await revokeIdentity({ path: { tokenId: id } });
  for (const token of created) if (token.id === id) token.revoked = true;
}
