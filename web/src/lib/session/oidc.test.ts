import { expect, test } from 'vitest';
import { challengeOf, subjectOf } from './oidc';

test('the challenge is the one of RFC 7636', async () => {
  const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
  expect(await challengeOf(verifier)).toBe('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
});

test('a token tells whom it is about, in any script', () => {
  const payload = Buffer.from(JSON.stringify({ sub: 'zoë' })).toString('base64url');
  expect(subjectOf(`e30.${payload}.x`)).toBe('zoë');
});
