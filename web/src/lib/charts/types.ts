export interface Slice {
  label: string;
  value: number;
  /** Which colour of the series, if not the next one. */
  series?: number;
}

export interface Point {
  x: Date;
  y: number;
}

/** The colours of a chart's series, in order; the theme gives them. */
export function seriesColor(index: number): string {
  return `var(--series-${(index % 6) + 1})`;
}

/** A count of each name, as the statistics answer it, largest first; the small ones become one. */
export function slicesOf(counts: Record<string, number>, most = 6): Slice[] {
  const all = Object.entries(counts)
    .map(([label, value]) => ({ label, value }))
    .sort((a, b) => b.value - a.value || a.label.localeCompare(b.label));
  if (all.length <= most) return all;
  const rest = all.slice(most - 1);
  return [
    ...all.slice(0, most - 1),
    { label: `${rest.length} others`, value: rest.reduce((sum, s) => sum + s.value, 0) },
  ];
}
