// Computes a listing's digest from its proof, so that users do not have to trust the service.
import type { ListingProof } from '$lib/api';

export async function computeDigest({ salt, content }: Pick<ListingProof, 'salt' | 'content'>): Promise<string> {
  const { encodeAbiParameters, keccak256 } = await import('viem');
  const types = [{ type: 'bytes32' }, ...content.map(() => ({ type: 'string' }))];
  return keccak256(encodeAbiParameters(types, [salt, ...content.map(({ value }) => value)]));
}
