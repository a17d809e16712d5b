// Chart slices of a portfolio.
import type { ProtocolItem } from '$lib/api';
import type { Slice } from '$lib/charts';

/** The theme has six series colours. */
const MAX_SLICES = 6;

/** One slice per protocol, in the portfolio's order. Protocols beyond the limit are merged into the last slice. */
export function toProtocolSlices(
  items: readonly Pick<ProtocolItem, 'protocolName' | 'allocationPercentage'>[],
): Slice[] {
  const shares = new Map<string, number>();
  for (const { protocolName, allocationPercentage } of items) {
    const label = protocolName.trim() || 'New protocol';
    shares.set(label, (shares.get(label) ?? 0) + allocationPercentage);
  }
  const slices = [...shares].map(([label, value]) => ({ label, value: round(value) }));
  if (slices.length <= MAX_SLICES) return slices;
  const rest = slices.slice(MAX_SLICES - 1);
  const value = round(rest.reduce((sum, slice) => sum + slice.value, 0));
  return [...slices.slice(0, MAX_SLICES - 1), { label: `${rest.length} others`, value }];
}

function round(share: number): number {
  return Math.round(share * 10_000) / 10_000;
}
