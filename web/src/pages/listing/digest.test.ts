import { expect, test } from 'vitest';
import { computeDigest } from './digest';

// Recorded from a running service.
const proof = {
  salt: '0xcf4b43265e977e19efc501056466394c8c2586a2f48be2cadad455843bf8f9e5',
  content: ['z1', 'a', 'b', 'c', '1', 'US', '12', '', '', '', ''].map((value) => ({ name: 'any', value })),
};

// The first test loads viem, which is slow on a busy machine.
test('computes the same digest as the service', { timeout: 60_000 }, async () => {
  expect(await computeDigest(proof)).toBe('0x5ef5ad7ad65133d0d3576349f192b7f2edb2717cae9497363caca29ab4299337');
});

test('a changed value changes the digest', async () => {
  const changed = proof.content.map((field, i) => (i === 6 ? { ...field, value: '13' } : field));
  expect(await computeDigest({ ...proof, content: changed })).not.toMatch(/^0x5ef5ad7a/);
});
