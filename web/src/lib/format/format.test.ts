import { expect, test } from 'vitest';
import { formats, shorten } from '.';

const us = formats('en-US');
const de = formats('de-DE');

test('money follows the locale and shows cents only when there are some', () => {
  expect(us.money(2100)).toBe('$2,100');
  expect(us.money(2100.5)).toBe('$2,100.50');
  expect(de.money(2100.25)).toBe('2.100,25\u00a0$');
});

test('numbers keep four decimals, as the service does', () => {
  expect(us.number(1234.56789)).toBe('1,234.5679');
  expect(de.number(1234.5)).toBe('1.234,5');
});

test('a share of 62.5 is 62.5%', () => {
  expect(us.percent(62.5)).toBe('62.5%');
});

test('recent times are relative, old ones are dates', () => {
  const now = new Date('2026-03-01T12:00:00Z');
  expect(us.ago('2026-03-01T11:59:57Z', now)).toBe('3 seconds ago');
  expect(us.ago('2026-03-01T12:00:00Z', now)).toBe('now');
  expect(us.ago('2026-03-01T10:00:00Z', now)).toBe('2 hours ago');
  expect(us.ago('2026-02-28T10:00:00Z', now)).toBe('yesterday');
  expect(us.ago('2025-02-28T10:00:00Z', now)).toBe('Feb 28, 2025');
});

test('a long hash is shortened, a short one is not', () => {
  expect(shorten('0x3add317b66c816d947ed')).toBe('0x3add…47ed');
  expect(shorten('0x3add')).toBe('0x3add');
});
