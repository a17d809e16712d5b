import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NETWORK_COLORS, networkColor } from './colors';
import { KNOWN_NETWORKS, findKnown, normalizeName } from './known';

test('known networks have different colours', () => {
  const colors = KNOWN_NETWORKS.map(({ name }) => networkColor(name));
  expect(new Set(colors).size).toBe(KNOWN_NETWORKS.length);
});

test('the colour depends on the name alone, in any spelling', () => {
  expect(networkColor('Helium')).toBe('var(--network-19)');
  expect(['helium', ' HELIUM ', 'Hel-ium'].map(networkColor)).toEqual(Array(3).fill('var(--network-19)'));
  // Recorded: a change would recolour the networks that people know by their colour.
  expect(['Zebra Net', 'zebranet', 'Ωmega'].map(networkColor)).toEqual([
    'var(--network-11)',
    'var(--network-11)',
    networkColor('ωmega'),
  ]);
});

test('names that are not known spread over all colours', () => {
  const colors = new Set(Array.from({ length: 400 }, (_, i) => networkColor(`network ${i}`)));
  expect(colors.size).toBe(NETWORK_COLORS);
});

/** WCAG contrast of two colours, `#rrggbb`. */
function contrast(one: string, two: string): number {
  const luminance = (hex: string) => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
      const value = parseInt(hex.slice(at, at + 2), 16) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [low = 0, high = 0] = [luminance(one), luminance(two)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

test('colours differ, with a contrast of 3:1 in both themes', () => {
  const networks = readFileSync('src/styles/networks.css', 'utf8');
  const [, light = '', dark = ''] = readFileSync('src/styles/tokens.css', 'utf8').split('color-scheme:');
  for (const [block, surfaces] of [
    [networks.slice(0, networks.indexOf("[data-theme='dark']")), light],
    [networks.slice(networks.indexOf("[data-theme='dark']")), dark],
  ] as const) {
    const colors = [...block.matchAll(/--network-\d+: (#[0-9a-f]{6})/g)].map(([, color]) => color ?? '');
    expect(new Set(colors).size).toBe(NETWORK_COLORS);
    for (const [, surface] of surfaces.matchAll(/--surface(?:-2)?: (#[0-9a-f]{6})/g))
      expect(Math.min(...colors.map((color) => contrast(color, surface ?? '')))).toBeGreaterThanOrEqual(3);
  }
});

test('known names are found in any spelling', () => {
  expect(findKnown('weather xm')?.identifier).toBe('wxm');
  expect(findKnown('Nobody')).toBeUndefined();
  expect(normalizeName('Ｈelium')).toBe('helium');
});
