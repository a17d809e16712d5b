import { expect, test } from 'vitest';
import { hasClaim, parseClaims, parseKeyId } from './claims';

const token = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;

test('parses claims with non-ASCII text', () => {
  expect(parseClaims(token({ sub: 'zoë' })).sub).toBe('zoë');
  expect(parseClaims(token({ sub: 'zoë', account: 'acme' })).account).toBe('acme');
});

test('a claim contains a value as a word or array item', () => {
  const holds = (scope: unknown) => hasClaim({ sub: 'ada', scope }, 'scope', 'admin');
  expect([holds('admin'), holds('openid admin'), holds(['admin'])]).toEqual([true, true, true]);
  expect([holds('administrator'), holds(['x']), holds(7), holds(undefined)]).toEqual([false, false, false, false]);
});

test('parses the key id', () => {
  expect(parseKeyId('test_b590c6267cd19e86_secret')).toBe('b590c6267cd19e86');
});
