import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LOCALES, readCatalogue } from './catalogue';

const en = readCatalogue('en');

/** The parameters and marks of a text: `{name}`, `{#link}`. */
function placeholders(texts: string[]): string[] {
  return [...new Set(texts.flatMap((text) => text.match(/\{[^}]*\}/g) ?? []))].sort();
}

describe.each(LOCALES)('%s', (locale) => {
  const { texts, areas } = readCatalogue(locale);

  test('has the same messages as English', () => {
    expect(Object.keys(texts).sort()).toEqual(Object.keys(en.texts).sort());
    expect(areas).toEqual(en.areas);
  });

  test('has the same parameters as English', () => {
    const byKey = (all: Record<string, string[]>) =>
      Object.fromEntries(Object.entries(all).map(([key, value]) => [key, placeholders(value)]));
    expect(byKey(texts)).toEqual(byKey(en.texts));
  });

  test('has no empty message', () => {
    const empty = Object.entries(texts).filter(([, all]) => all.length === 0 || all.some((text) => text.trim() === ''));
    expect(empty).toEqual([]);
  });

  test('keys begin with the name of their file', () => {
    expect(Object.entries(areas).filter(([key, area]) => !key.startsWith(`${area}_`))).toEqual([]);
  });
});

test('no message is unused', () => {
  const names = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.(svelte|ts)$/.test(name) && !name.includes('generated') && !name.endsWith('.test.ts'),
  );
  const used = new Set(
    names.flatMap((name) => readFileSync(join('src', name), 'utf8').match(/(?<=\bm\.)[a-z0-9_]+/g) ?? []),
  );
  expect(Object.keys(en.texts).filter((key) => !used.has(key))).toEqual([]);
});
