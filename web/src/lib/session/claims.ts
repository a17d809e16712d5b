// What a token says about itself. Only for display and paths; the service checks the signature.
export interface Claims {
  sub: string;
  [claim: string]: unknown;
}

export function claimsOf(token: string): Claims {
  const payload = (token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/');
  const bytes = Uint8Array.from(atob(payload), (char) => char.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as Claims;
}

/** Whether a claim holds a value: as a word of a text, as scopes are written, or in a list. */
export function claimHolds(claims: Claims, claim: string, value: string): boolean {
  const held = claims[claim];
  const words = typeof held === 'string' ? held.split(' ') : held;
  return Array.isArray(words) && words.includes(value);
}

/** The public part of a key, under which the list of keys knows it: `test_<id>_<secret>`. */
export function keyIdOf(apiKey: string): string | undefined {
  return apiKey.split('_')[1];
}
