// Charts, drawn as SVG with d3's shapes and scales and coloured by the theme. Each is loaded when it is first shown.
export { default as Bars } from './Bars.svelte';
export { default as Donut } from './Donut.svelte';
export { default as Line } from './Line.svelte';
export { slicesOf, type Point, type Slice } from './types';
