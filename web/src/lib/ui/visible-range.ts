// Computes which rows of a virtual list to render: those in view plus overscan on both sides.
const OVERSCAN_ROWS = 8;

export interface Viewport {
  scrollTop: number;
  viewHeight: number;
  rowHeight: number;
  count: number;
}

export function visibleRange({ scrollTop, viewHeight, rowHeight, count }: Viewport): { from: number; to: number } {
  const firstRow = Math.floor(Math.max(scrollTop, 0) / rowHeight);
  const rowsInView = Math.ceil(viewHeight / rowHeight);
  // After the list became shorter, the scroll position can be past its end.
  const from = Math.max(0, Math.min(firstRow, count - rowsInView) - OVERSCAN_ROWS);
  return { from, to: Math.min(count, from + rowsInView + 2 * OVERSCAN_ROWS) };
}
