export { inView } from './fit';
export { default as Map } from './Map.svelte';
export type { Box, Cluster, Pin, Place } from './types';
