// The map with its pins: `import { Map } from '$lib/map'`.
export { default as Map } from './Map.svelte';
export type { Box, Pin, Place } from './types';
