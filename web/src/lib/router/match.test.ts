import { expect, test } from 'vitest';
import { fillPattern, matchPattern, matchRoute } from './match';

test('a fixed path matches itself, with or without a final slash', () => {
  expect(matchPattern('/saved', '/saved')).toEqual({});
  expect(matchPattern('/saved', '/saved/')).toEqual({});
  expect(matchPattern('/', '/')).toEqual({});
  expect(matchPattern('/saved', '/saves')).toBeUndefined();
  expect(matchPattern('/saved', '/saved/more')).toBeUndefined();
});

test('a parameter is one decoded path segment', () => {
  expect(matchPattern('/listings/:id', '/listings/oak%2F12%20%C3%A4')).toEqual({ id: 'oak/12 ä' });
});

test('an invalid encoding does not match', () => {
  expect(matchPattern('/listings/:id', '/listings/%E0%A4%A')).toBeUndefined();
});

test('the first matching route wins', () => {
  const routes = [{ path: '/listings/new' }, { path: '/listings/:id' }];
  expect(matchRoute(routes, '/listings/new')?.route).toBe(routes[0]);
  expect(matchRoute(routes, '/listings/7')).toEqual({ route: routes[1], params: { id: '7' } });
  expect(matchRoute(routes, '/nowhere')).toBeUndefined();
});

test('a filled pattern matches with the same parameters', () => {
  for (const id of ['oak-12', 'a/b', '?x=1', '100%', '#', 'ä b']) {
    expect(matchPattern('/listings/:id', fillPattern('/listings/:id', { id }))).toEqual({ id });
  }
});
