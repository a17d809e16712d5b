import { expect, test } from 'vitest';
import { cursorOf } from './paged';

test('the cursor is parsed from the Link header', () => {
  expect(cursorOf('</listings?limit=2&cursor=a%2Bb>; rel="next"')).toBe('a+b');
  expect(cursorOf('<http://h/listings?cursor=x>; rel="prev"')).toBeUndefined();
  expect(cursorOf(null)).toBeUndefined();
});
