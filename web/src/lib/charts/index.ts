// Lazy-loaded SVG charts, drawn with d3-shape and d3-scale in the colours of the theme.
export { default as Bars } from './Bars.svelte';
export { default as Donut } from './Donut.svelte';
export { default as Line } from './Line.svelte';
export { toSlices, type Point, type Slice } from './types';
