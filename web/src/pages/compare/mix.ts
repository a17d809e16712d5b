// Compares portfolios network by network. The first one is the reference: the others differ from it.
import type { ProtocolItem } from '$lib/api';
import { normalizeName } from '$lib/networks/known';

/** A portfolio or a template, as a column. */
export interface Compared {
  id: string;
  name: string;
  href: string;
  kind: 'template' | 'portfolio';
  riskLevel: string;
  items: readonly ProtocolItem[];
  updatedAt: string;
  /** The template that it was copied from. */
  templateId?: string;
}

/** How a share differs from that of the reference. */
export type Difference = 'same' | 'more' | 'less' | 'only' | 'missing' | 'none';

export interface Cell {
  /** In percent; undefined if the portfolio does not have the network. */
  share?: number;
  difference: Difference;
  /** Percentage points against the reference; never negative. */
  points: number;
}

export interface Row {
  name: string;
  cells: Cell[];
  differs: boolean;
}

export const MAX_COMPARED = 4;

/** The ids of the URL, each once. */
export function parseIds(text: string | null): string[] {
  const ids = (text ?? '').split(',').filter((id) => id !== '');
  return [...new Set(ids)].slice(0, MAX_COMPARED);
}

/** Shares by normalised name. A portfolio can have several protocols of one name. */
function sharesOf(items: readonly ProtocolItem[]): Map<string, { name: string; share: number }> {
  const shares = new Map<string, { name: string; share: number }>();
  for (const { protocolName, allocationPercentage } of items) {
    const key = normalizeName(protocolName);
    const before = shares.get(key);
    shares.set(key, { name: before?.name ?? protocolName, share: round((before?.share ?? 0) + allocationPercentage) });
  }
  return shares;
}

/** One row for each network of any of them; the largest share first. */
export function compareMixes(columns: readonly (readonly ProtocolItem[])[]): Row[] {
  const shares = columns.map(sharesOf);
  const names = new Map<string, string>();
  for (const column of shares) for (const [key, { name }] of column) if (!names.has(key)) names.set(key, name);
  const rows = [...names].map(([key, name]) => {
    const all = shares.map((column) => column.get(key)?.share);
    const cells = all.map((share) => toCell(share, all[0]));
    return { name, cells, differs: new Set(all).size > 1 };
  });
  const largest = (row: Row) => Math.max(...row.cells.map(({ share }) => share ?? 0));
  return rows.sort((a, b) => largest(b) - largest(a) || a.name.localeCompare(b.name));
}

function toCell(share: number | undefined, reference: number | undefined): Cell {
  const points = round(Math.abs((share ?? 0) - (reference ?? 0)));
  if (share === undefined) return { difference: reference === undefined ? 'none' : 'missing', points };
  if (reference === undefined) return { share, difference: 'only', points };
  return { share, difference: points === 0 ? 'same' : share > reference ? 'more' : 'less', points };
}

export function totalShare(items: readonly ProtocolItem[]): number {
  return round(items.reduce((sum, { allocationPercentage }) => sum + allocationPercentage, 0));
}

/** Shares have four decimals; sums of floating-point numbers have more. */
function round(share: number): number {
  return Math.round(share * 10_000) / 10_000;
}
