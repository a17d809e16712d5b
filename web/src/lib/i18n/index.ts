// The words of the console: `m.common_cancel()`. They are in messages/, one file per language and area.
export { LANGUAGE, LANGUAGES, LOCALE, chooseLanguage, type Language } from './language';
export { m } from './generated/messages.js';
export { default as Phrase } from './Phrase.svelte';
