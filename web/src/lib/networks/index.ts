// Networks and protocols: known names, colours: `import { networkColor, NetworkName } from '$lib/networks'`.
export { networkColor } from './colors';
export { KNOWN_NETWORKS, findKnown, normalizeName } from './known';
export { default as NetworkName } from './NetworkName.svelte';
export { default as NetworkPicker } from './NetworkPicker.svelte';
