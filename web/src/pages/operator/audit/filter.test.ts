import { expect, test } from 'vitest';
import { filterQuery } from './filter';

const query = (text: string) => filterQuery(new URLSearchParams(text));

test('empty fields are no filter', () => {
  expect(query('')).toEqual({});
  expect(query('actor=%20&action=&subject=&from=&to=&other=x')).toEqual({});
  expect(query('actor=%20user%20ada%20&action=key.')).toEqual({ actor: 'user ada', action: 'key.' });
});

test('the last day is included', () => {
  const { from, to } = query('from=2026-01-31&to=2026-01-31');
  expect(from).toBe(new Date(2026, 0, 31).toISOString());
  expect(to).toBe(new Date(2026, 1, 1).toISOString());
});

test('what is no day is ignored', () => {
  expect(query('from=yesterday&to=2026-1-1')).toEqual({});
});
