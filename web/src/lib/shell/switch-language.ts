// Switching the language reloads the page; unsaved forms ask first, and their drafts survive.
import { LANGUAGE, chooseLanguage, type Language } from '../i18n';
import { unsaved } from '../state/unsaved.svelte';

export function switchLanguage(language: Language): void {
  if (language !== LANGUAGE) unsaved.reloadWith(() => chooseLanguage(language));
}
