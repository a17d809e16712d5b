// Computes which rows of a virtual list to render: those in view plus overscan on both sides.
const SPARE = 8;

export interface Viewport {
  top: number;
  view: number;
  rowHeight: number;
  count: number;
}

export function windowOf({ top, view, rowHeight, count }: Viewport): { from: number; to: number } {
  const first = Math.floor(Math.max(top, 0) / rowHeight);
  const rows = Math.ceil(view / rowHeight);
  // After the list became shorter, the scroll position can be past its end.
  const from = Math.max(0, Math.min(first, count - rows) - SPARE);
  return { from, to: Math.min(count, from + rows + 2 * SPARE) };
}
