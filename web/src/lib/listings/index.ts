// What several pages show about listings: `import { Flags, loadApplications } from '$lib/listings'`.
export { loadApplications, loadFlags, POLL_UNTIL_MINED } from './applications';
export { default as DemoButton } from './DemoButton.svelte';
export { default as Flags } from './Flags.svelte';
export { default as FlagsProof } from './FlagsProof.svelte';
export { default as Rent } from './Rent.svelte';
