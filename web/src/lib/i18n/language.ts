// The language of the console: the one that was chosen, else the browser's first that the console speaks, else English.
// It is fixed while the page lives; choosing another reloads it.
import { baseLocale, locales, overwriteGetLocale, type Locale } from './generated/runtime.js';

export type Language = Locale;

/** Each in its own words. */
export const LANGUAGES: Record<Language, string> = { en: 'English', es: 'Español' };

const LANGUAGE_STORAGE_KEY = 'portico.language';

export function pickLanguage(saved: string | null, preferred: readonly string[]): Language {
  const wanted = [saved ?? '', ...preferred.map(languageOf)];
  return wanted.find((language): language is Language => locales.includes(language as Language)) ?? baseLocale;
}

/** The locale of numbers, dates and money: the browser's own with its region, if it is of this language. */
export function pickLocale(language: Language, preferred: readonly string[]): string {
  return preferred.find((tag) => languageOf(tag) === language) ?? language;
}

function languageOf(tag: string): string {
  return tag.split('-')[0]?.toLowerCase() ?? '';
}

function savedLanguage(): string | null {
  try {
    return localStorage.getItem(LANGUAGE_STORAGE_KEY);
  } catch {
    // Storage may be disabled.
    return null;
  }
}

const preferred = typeof window === 'undefined' ? [] : navigator.languages;

export const LANGUAGE = pickLanguage(typeof window === 'undefined' ? null : savedLanguage(), preferred);
export const LOCALE = pickLocale(LANGUAGE, preferred);
overwriteGetLocale(() => LANGUAGE);

export function chooseLanguage(language: Language): void {
  localStorage.setItem(LANGUAGE_STORAGE_KEY, language);
  window.location.reload();
}
