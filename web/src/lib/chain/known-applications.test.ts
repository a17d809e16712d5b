import { expect, test } from 'vitest';
import { matchApplications, type KnownApplication } from './known-applications';

const of = (userId: string): KnownApplication => ({ userId, listingId: 'oak-1' });
const keysOf = (keys: Record<string, string>, asked: string[]) => async (candidate: KnownApplication) => {
  asked.push(candidate.userId);
  return keys[candidate.userId];
};

test('applications are recognised by the key of their record', async () => {
  const loadKey = keysOf({ ada: '0x1', ben: '0x2' }, []);
  const found = await matchApplications(['0x2', '0x9'], [of('ada'), of('ben'), of('chloe')], loadKey);
  expect([...found]).toEqual([['0x2', of('ben')]]);
});

test('nothing is asked any more once all are recognised', async () => {
  const people = Array.from({ length: 20 }, (_, i) => `user-${i}`);
  const asked: string[] = [];
  await matchApplications(['0x1'], people.map(of), keysOf({ 'user-0': '0x1' }, asked));
  // Four are asked at the same time.
  expect(asked.length).toBeLessThanOrEqual(4);
});

test('a candidate that cannot be asked leaves the others', async () => {
  const loadKey = async ({ userId }: KnownApplication) => {
    if (userId === 'ada') throw new Error('gone');
    return '0x1';
  };
  const found = await matchApplications(['0x1'], [of('ada'), of('ben')], loadKey);
  expect([...found.values()]).toEqual([of('ben')]);
});
