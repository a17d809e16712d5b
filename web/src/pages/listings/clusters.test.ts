import { expect, test } from 'vitest';
import { intersection } from './clusters.svelte';

test('the map asks for its view within the area of the search', () => {
  expect(intersection([-98, 30, -97, 31], undefined)).toBe('-98,30,-97,31');
  expect(intersection([-98, 30, -97, 31], '-97.5,29,-96,30.5')).toBe('-97.5,30,-97,30.5');
  expect(intersection([-98, 30, -97, 31], '-97.5,30.5,-96,29')).toBe('-97.5,30,-97,30.5');
  expect(intersection([-98, 30, -97, 31], '10,30,11,31')).toBeUndefined();
  expect(intersection([-180, -20, 180, 20], '170,-20,-170,-12')).toBe('170,-20,-170,-12');
});
