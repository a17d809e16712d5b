import { beforeEach, expect, test, vi } from 'vitest';
import { DEFAULT_COLUMNS, loadColumns, saveColumns, withColumn } from './columns';

const items = new Map<string, string>();

beforeEach(() => {
  items.clear();
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, value: string) => void items.set(name, value),
  });
});

test('each user has their own columns', () => {
  saveColumns('ada', ['rent']);
  saveColumns('ben', []);
  expect(loadColumns('ada')).toEqual(['rent']);
  expect(loadColumns('ben')).toEqual([]);
  expect(loadColumns('constructor')).toEqual(DEFAULT_COLUMNS);
});

test('a column is shown in its place', () => {
  expect(withColumn(['rent', 'chain'], 'status', true)).toEqual(['rent', 'status', 'chain']);
  expect(withColumn(['rent', 'chain'], 'rent', false)).toEqual(['chain']);
  expect(withColumn(['rent'], 'rent', true)).toEqual(['rent']);
});

test.each(['', 'no json', 'null', '[]', '{"ada":"rent"}', '{"ada":null}'])('stored %j means the usual', (text) => {
  items.set('portico.listing-columns', text);
  expect(loadColumns('ada')).toEqual(DEFAULT_COLUMNS);
});

test('stored names that are no columns are left out', () => {
  items.set('portico.listing-columns', '{"ada":["status","price",1]}');
  expect(loadColumns('ada')).toEqual(['status']);
});

test('without storage the usual columns are shown', () => {
  const fail = () => {
    throw new DOMException('turned off', 'SecurityError');
  };
  vi.stubGlobal('localStorage', { getItem: fail, setItem: fail });
  expect(() => saveColumns('ada', ['rent'])).not.toThrow();
  expect(loadColumns('ada')).toEqual(DEFAULT_COLUMNS);
});
