// What several pages show about listings: `import { StateWords, loadApplications } from '$lib/listings'`.
export {
  conflictMessage,
  isReadable,
  loadApplication,
  loadApplications,
  POLL_UNTIL_MINED,
  type LoadedApplication,
} from './applications';
export { CHECK_LABELS, checkLabel, checksToRun, checkWord, formatChecks, isValid, namableChecks } from './checks';
export { default as Decision } from './Decision.svelte';
export { default as DemoButton } from './DemoButton.svelte';
export { default as FlagsProof } from './FlagsProof.svelte';
export { default as HistoryCard } from './HistoryCard.svelte';
export { default as Rent } from './Rent.svelte';
export { default as StateWords } from './StateWords.svelte';
export { hasFlags, isShared, statusWord } from './words';
