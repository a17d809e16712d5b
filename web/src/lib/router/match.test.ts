import { expect, test } from 'vitest';
import { fill, matchPattern, matchRoute } from './match';

test('a fixed path matches itself, with or without a final slash', () => {
  expect(matchPattern('/saved', '/saved')).toEqual({});
  expect(matchPattern('/saved', '/saved/')).toEqual({});
  expect(matchPattern('/', '/')).toEqual({});
  expect(matchPattern('/saved', '/saves')).toBeUndefined();
  expect(matchPattern('/saved', '/saved/more')).toBeUndefined();
});

test('a parameter takes one part of the path, decoded', () => {
  expect(matchPattern('/listings/:id', '/listings/oak%2F12%20%C3%A4')).toEqual({ id: 'oak/12 ä' });
});

test('a part that cannot be decoded matches nothing', () => {
  expect(matchPattern('/listings/:id', '/listings/%E0%A4%A')).toBeUndefined();
});

test('the first route that fits is taken', () => {
  const routes = [{ path: '/listings/new' }, { path: '/listings/:id' }];
  expect(matchRoute(routes, '/listings/new')?.route).toBe(routes[0]);
  expect(matchRoute(routes, '/listings/7')).toEqual({ route: routes[1], params: { id: '7' } });
  expect(matchRoute(routes, '/nowhere')).toBeUndefined();
});

test('what is filled in comes back when it is matched', () => {
  for (const id of ['oak-12', 'a/b', '?x=1', '100%', '#', 'ä b']) {
    expect(matchPattern('/listings/:id', fill('/listings/:id', { id }))).toEqual({ id });
  }
});
