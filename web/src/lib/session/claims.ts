// Decodes tokens and keys for display and paths. The service verifies the signature.
export interface Claims {
  sub: string;
  [claim: string]: unknown;
}

export function parseClaims(token: string): Claims {
  const payload = (token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/');
  const bytes = Uint8Array.from(atob(payload), (char) => char.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as Claims;
}

/** True if a claim contains the value: in a space-separated string, like `scope`, or in an array. */
export function hasClaim(claims: Claims, claim: string, value: string): boolean {
  const claimValue = claims[claim];
  const words = typeof claimValue === 'string' ? claimValue.split(' ') : claimValue;
  return Array.isArray(words) && words.includes(value);
}

/** Extracts the public id from a key: `test_<id>_<secret>`. */
export function parseKeyId(apiKey: string): string | undefined {
  return apiKey.split('_')[1];
}
