// Chart slices of a portfolio.
import type { ProtocolItem } from '$lib/api';
import type { Slice } from '$lib/charts';
import { number } from '$lib/format';
import { m } from '$lib/i18n';
import { networkColor } from '$lib/networks/colors';

/** More would not fit the legend of a card. */
const MAX_SLICES = 6;

/** One slice per protocol, in the portfolio's order. Protocols beyond the limit are merged into the last slice. */
export function toProtocolSlices(
  items: readonly Pick<ProtocolItem, 'protocolName' | 'allocationPercentage'>[],
): Slice[] {
  const shares = new Map<string, number>();
  for (const { protocolName, allocationPercentage } of items) {
    const label = protocolName.trim() || m.portfolios_new_protocol();
    shares.set(label, (shares.get(label) ?? 0) + allocationPercentage);
  }
  const slices = [...shares].map(([label, value]) => ({ label, value: round(value), color: networkColor(label) }));
  if (slices.length <= MAX_SLICES) return slices;
  const rest = slices.slice(MAX_SLICES - 1);
  const value = round(rest.reduce((sum, slice) => sum + slice.value, 0));
  return [
    ...slices.slice(0, MAX_SLICES - 1),
    { label: m.portfolios_others({ count: rest.length, n: number(rest.length) }), value, color: 'var(--line-strong)' },
  ];
}

function round(share: number): number {
  return Math.round(share * 10_000) / 10_000;
}
