import { expect, test } from 'vitest';
import { parseNextCursor } from './paged';

test('the cursor is parsed from the Link header', () => {
  expect(parseNextCursor('</listings?limit=2&cursor=a%2Bb>; rel="next"')).toBe('a+b');
  expect(parseNextCursor('<http://h/listings?cursor=x>; rel="prev"')).toBeUndefined();
  expect(parseNextCursor(null)).toBeUndefined();
});
