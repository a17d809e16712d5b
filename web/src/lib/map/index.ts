export { default as Map } from './Map.svelte';
export type { Box, Pin, Place } from './types';
