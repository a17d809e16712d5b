import { beforeEach, expect, test, vi } from 'vitest';
import { applicableFields, changedFields, forgetAllDrafts, forgetDraft, loadDraft, saveDraft } from './drafts';

function fakeStorage(): Storage {
  const items = new Map<string, string>();
  return {
    get length() {
      return items.size;
    },
    key: (index) => [...items.keys()][index] ?? null,
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => void items.set(name, value),
    removeItem: (name) => void items.delete(name),
    clear: () => items.clear(),
  };
}

beforeEach(() => {
  vi.stubGlobal('sessionStorage', fakeStorage());
  forgetAllDrafts();
});

test('a draft has the changed fields, and never those that must not be kept', () => {
  const saved = { name: '', ssn: '', items: [{ share: '1' }] };
  expect(changedFields(saved, { ...saved })).toEqual({});
  expect(changedFields(saved, { name: 'Ada', ssn: '900-00-0720', items: [{ share: '2' }] }, ['ssn'])).toEqual({
    name: 'Ada',
    items: [{ share: '2' }],
  });
});

test('of a draft only the fields that the form has are restored', () => {
  const initial = { name: '', items: [] as string[] };
  expect(applicableFields(initial, { name: 'Ada', items: ['a'], gone: 1 })).toEqual({ name: 'Ada', items: ['a'] });
  expect(applicableFields(initial, { name: 5, items: {} })).toEqual({});
  expect(applicableFields(initial, 'x')).toEqual({});
});

test('a draft belongs to one user and one form', () => {
  saveDraft('ada', 'new-listing', { street: '1 Elm' });
  expect(loadDraft('ada', 'new-listing')).toEqual({ street: '1 Elm' });
  expect(loadDraft('ben', 'new-listing')).toBeNull();
  expect(loadDraft('ada', 'portfolio')).toBeNull();
  forgetDraft('ada', 'new-listing');
  expect(loadDraft('ada', 'new-listing')).toBeNull();
});

test('signing out forgets every draft and nothing else', () => {
  sessionStorage.setItem('portico.session', 'S');
  saveDraft('ada', 'one', { a: 1 });
  saveDraft('ada', 'two', { a: 1 });
  forgetAllDrafts();
  expect(sessionStorage.length).toBe(1);
  expect(loadDraft('ada', 'one')).toBeNull();
});

test('a full storage keeps the draft in memory, and a damaged one is ignored', () => {
  sessionStorage.setItem = () => {
    throw new DOMException('full', 'QuotaExceededError');
  };
  saveDraft('ada', 'one', { a: 1 });
  expect(loadDraft('ada', 'one')).toEqual({ a: 1 });
  vi.stubGlobal('sessionStorage', { ...fakeStorage(), getItem: () => '{' });
  expect(loadDraft('ada', 'other')).toBeUndefined();
});
