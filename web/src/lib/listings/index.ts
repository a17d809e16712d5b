// What several pages show about listings: `import { StateWords, loadApplications } from '$lib/listings'`.
export {
  conflictMessage,
  isReadable,
  loadApplication,
  loadApplications,
  POLL_UNTIL_MINED,
  type LoadedApplication,
} from './applications';
export {
  CHECK_LABELS,
  checkLabel,
  checksToRun,
  checkWord,
  findingWord,
  formatChecks,
  isValid,
  namableChecks,
} from './checks';
export { STATUS_ICONS } from './icons';
export { default as Decision } from './Decision.svelte';
export { default as DemoButton } from './DemoButton.svelte';
export { default as FlagsProof } from './FlagsProof.svelte';
export { default as HistoryCard } from './HistoryCard.svelte';
export { default as ListingWarnings } from './ListingWarnings.svelte';
export { default as Rent } from './Rent.svelte';
export { default as StateWords } from './StateWords.svelte';
export { placeOf } from './rules';
export { hasFlags, isShared, statusWord } from './words';
