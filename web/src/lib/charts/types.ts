import { m } from '../i18n';
export interface Slice {
  label: string;
  value: number;
  /** Index of the series colour; the position of the slice by default. */
  series?: number;
  /** CSS colour instead of a series colour. */
  color?: string;
}

export interface Point {
  x: Date;
  y: number;
}

/** The CSS colour of a series; the theme defines six. */
export function seriesColor(index: number): string {
  return `var(--series-${(index % 6) + 1})`;
}

/** Turns counts by name into slices, largest first. The smallest ones are merged into one slice. */
export function toSlices(counts: Record<string, number>, maxSlices = 6): Slice[] {
  const slices = Object.entries(counts)
    .map(([label, value]) => ({ label, value }))
    .sort((a, b) => b.value - a.value || a.label.localeCompare(b.label));
  if (slices.length <= maxSlices) return slices;
  const rest = slices.slice(maxSlices - 1);
  return [
    ...slices.slice(0, maxSlices - 1),
    {
      label: m.charts_others({ count: rest.length, n: rest.length }),
      value: rest.reduce((sum, s) => sum + s.value, 0),
    },
  ];
}
