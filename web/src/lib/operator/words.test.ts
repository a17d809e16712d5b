import { expect, test } from 'vitest';
import { actorWords, contractWords, faultWords } from './words';

test('actors of the audit log are put into words', () => {
  expect(actorWords('user ada')).toBe('User ada');
  expect(actorWords("operator's key 5f3a0c1d2e4b6978")).toBe('Operator’s key 5f3a0c1d2e4b6978');
  expect(actorWords('key 5f3a0c1d2e4b6978')).toBe('Key 5f3a0c1d2e4b6978');
  expect(actorWords('operator at the command line')).toBe('Operator at the command line');
  for (const unknown of ['constructor', 'user', 'somebody new', '']) expect(actorWords(unknown)).toBe(unknown);
});

test('what this console does not know is shown as the service says it', () => {
  expect(contractWords('ListingRegistry')).toBe('Listings');
  expect(contractWords('NewContract')).toBe('NewContract');
  expect(contractWords(undefined)).toBe('Nothing, takes up a number');
  expect(faultWords({ code: 'altered', text: 'x' }, '7')).toContain('Entry 7 was altered');
  expect(faultWords({ code: 'brand_new', text: 'as the service says' }, '7')).toBe('as the service says');
});
