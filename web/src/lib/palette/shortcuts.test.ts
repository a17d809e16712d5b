import { expect, test } from 'vitest';
import { routes } from '../../routes';
import { GO_TO, SEQUENCE_TIMEOUT_MS, ShortcutReader, isTextField, type KeyPress } from './shortcuts';

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...more,
});

test('Ctrl-K and Cmd-K open the palette, and ? the shortcuts', () => {
  const reader = new ShortcutReader();
  expect(reader.read(press('k', { ctrlKey: true }), false, 0)).toEqual({ kind: 'palette' });
  expect(reader.read(press('K', { metaKey: true }), false, 0)).toEqual({ kind: 'palette' });
  expect(reader.read(press('?'), false, 0)).toEqual({ kind: 'help' });
  expect([reader.read(press('k'), false, 0), reader.read(press('j', { ctrlKey: true }), false, 0)]).toEqual([
    undefined,
    undefined,
  ]);
});

test('g and a letter opens a page, if the letter comes soon', () => {
  const reader = new ShortcutReader();
  expect(reader.read(press('g'), false, 0)).toBeUndefined();
  expect(reader.read(press('l'), false, SEQUENCE_TIMEOUT_MS)).toEqual({ kind: 'go', path: '/listings' });
  expect(reader.read(press('l'), false, 10)).toBeUndefined();
  reader.read(press('g'), false, 0);
  expect(reader.read(press('l'), false, SEQUENCE_TIMEOUT_MS + 1)).toBeUndefined();
  reader.read(press('g'), false, 0);
  expect(reader.read(press('x'), false, 1)).toBeUndefined();
});

test('nothing happens while somebody types', () => {
  const reader = new ShortcutReader();
  for (const key of ['?', 'g', 'l']) expect(reader.read(press(key), true, 0)).toBeUndefined();
  expect(reader.read(press('k', { ctrlKey: true }), true, 0)).toBeUndefined();
  // A g in a field does not begin a sequence.
  reader.read(press('g'), true, 0);
  expect(reader.read(press('l'), false, 1)).toBeUndefined();
});

test('text fields are told from other controls', () => {
  const element = (tagName: string, more: object = {}) => ({ tagName, ...more }) as unknown as EventTarget;
  const fields = [
    element('INPUT', { type: 'text' }),
    element('INPUT', { type: 'search' }),
    element('TEXTAREA'),
    element('SELECT'),
    element('DIV', { isContentEditable: true }),
  ];
  expect(fields.map(isTextField)).toEqual(fields.map(() => true));
  const others = [element('INPUT', { type: 'checkbox' }), element('BUTTON'), element('BODY'), null];
  expect(others.map(isTextField)).toEqual(others.map(() => false));
});

test('every shortcut leads to a page of the navigation', () => {
  const paths = routes.filter(({ nav }) => nav).map(({ path }) => path);
  for (const path of Object.values(GO_TO)) expect(paths).toContain(path);
});
