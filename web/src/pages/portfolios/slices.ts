// Chart slices of a portfolio.
import type { ProtocolItem } from '$lib/api';
import type { Slice } from '$lib/charts';

/** The theme has six series colours. */
const MOST = 6;

/** One slice per protocol, in the portfolio's order. Protocols beyond the limit are merged into the last slice. */
export function slicesOfItems(items: readonly Pick<ProtocolItem, 'protocolName' | 'allocationPercentage'>[]): Slice[] {
  const shares = new Map<string, number>();
  for (const { protocolName, allocationPercentage } of items) {
    const label = protocolName.trim() || 'New protocol';
    shares.set(label, (shares.get(label) ?? 0) + allocationPercentage);
  }
  const all = [...shares].map(([label, value]) => ({ label, value: rounded(value) }));
  if (all.length <= MOST) return all;
  const rest = all.slice(MOST - 1);
  const value = rounded(rest.reduce((sum, slice) => sum + slice.value, 0));
  return [...all.slice(0, MOST - 1), { label: `${rest.length} others`, value }];
}

function rounded(share: number): number {
  return Math.round(share * 10_000) / 10_000;
}
