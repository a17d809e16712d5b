import { expect, test } from 'vitest';
import { readQuery } from './query';

const hash = `0x${'Ab'.repeat(32)}`;
const address = `0x${'Cd'.repeat(20)}`;
const kinds = (text: string) => readQuery(text).map(({ kind }) => kind);

test('hashes, addresses and numbers come before a listing of that id', () => {
  expect([kinds(hash), kinds(address), kinds(' 12 ')]).toEqual([
    ['hash', 'listing'],
    ['address', 'listing'],
    ['block', 'listing'],
  ]);
  expect(readQuery(hash)[0]).toEqual({ kind: 'hash', hash: hash.toLowerCase() });
  expect(readQuery(' 12 ')[0]).toEqual({ kind: 'block', number: 12 });
});

test('anything else is the id of a listing, unless it is too long for one', () => {
  expect(readQuery('austin-1')).toEqual([{ kind: 'listing', id: 'austin-1' }]);
  expect([kinds('0x12'), kinds(`${hash}0`), kinds('-1'), kinds('1'.repeat(16))]).toEqual(Array(4).fill(['listing']));
  expect([kinds(''), kinds('  '), kinds('x'.repeat(256))]).toEqual([[], [], []]);
});
