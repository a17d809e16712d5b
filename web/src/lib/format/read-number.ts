// Reads numbers as people type them, by the rules of the page's language. What another language would read as another
// number is not guessed: the caller asks.
import { m } from '../i18n';
import { LOCALE } from './locale';

export type Reading =
  | { state: 'empty' }
  | { state: 'read'; value: number }
  /** It may mean one of these. */
  | { state: 'unclear'; choices: number[] }
  | { state: 'invalid' };

interface Separators {
  decimal: string;
  group: string;
  digits: string;
}

/** Whole or grouped digits in front of a decimal part. Both separators are single characters. */
function readAs(text: string, decimal: string, groups: string): number | undefined {
  const [, sign = '', whole = '', fraction = ''] =
    new RegExp(`^([+-]?)([^${escape(decimal)}]*)(?:${escape(decimal)}(\\d*))?$`).exec(text) ?? [];
  if (whole === '' && fraction === '') return undefined;
  // Groups of three, or of two before the last one as in India, and all with the same separator.
  const grouped = /^\d{1,3}(?:([^\d])\d{2,3}(?:\1\d{2,3})*)?$/.exec(whole);
  const separator = grouped?.[1];
  const isGrouped = separator !== undefined && groups.includes(separator) && /\D\d{3}$/.test(whole);
  if (!/^\d*$/.test(whole) && !isGrouped) return undefined;
  return Number(`${sign}${whole.replace(/\D/g, '') || '0'}.${fraction || '0'}`);
}

function escape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function separatorsOf(locale: string | undefined): Separators {
  const format = new Intl.NumberFormat(locale, { useGrouping: true });
  const part = (type: string) => format.formatToParts(1234567.5).find((found) => found.type === type)?.value ?? '';
  const digits = new Intl.NumberFormat(locale, { useGrouping: false }).format(9876543210);
  return {
    decimal: simplify(part('decimal')) || '.',
    group: simplify(part('group')),
    digits: [...digits].reverse().join(''),
  };
}

/** One kind of space, apostrophe, minus and point, and no marks of direction, which Intl writes before an Arabic minus. */
function simplify(text: string): string {
  return text
    .replace(/[\u061c\u200e\u200f]/g, '')
    .replace(/\s/g, ' ')
    .replace(/[’‘ʼ]/g, "'")
    .replace(/[−–]/g, '-')
    .replaceAll('٫', '.')
    .replaceAll('٬', ',');
}

function toLatinDigits(text: string, digits: string): string {
  return digits === '0123456789'
    ? text
    : text.replace(/\p{Nd}/gu, (digit) => String(Math.max(0, digits.indexOf(digit))));
}

export function numberReader(locale: string | undefined) {
  const { decimal, group, digits } = separatorsOf(locale);

  function clean(text: string): string {
    const latin = simplify(toLatinDigits(text, digits)).trim();
    // A currency is not part of the number: `$`, `US$`, `EUR`.
    return latin
      .replace(/^([+-]?)\s*(?:[A-Z]{0,3}\p{Sc}|[A-Z]{3}\b)\s*/u, '$1')
      .replace(/\s*(?:\p{Sc}|[A-Z]{3})$/u, '');
  }

  /** An amount or a count, with or without a currency. */
  function readNumber(text: string): Reading {
    const cleaned = clean(text);
    if (cleaned === '') return { state: text.trim() === '' ? 'empty' : 'invalid' };
    const own = readAs(cleaned, decimal, `${group} '`);
    const others = [readAs(cleaned, '.', ", '"), readAs(cleaned, ',', ". '")].filter((value) => value !== undefined);
    if (own === undefined) {
      const choices = [...new Set(others)];
      return choices.length > 0 ? { state: 'unclear', choices } : { state: 'invalid' };
    }
    // `1.850` with a decimal point may be 1850 that somebody typed as at home.
    const different = others.filter((value) => value !== own);
    if (different.length > 0 && cleaned.includes(decimal)) return { state: 'unclear', choices: [...different, own] };
    return { state: 'read', value: own };
  }

  /** Degrees: never grouped, so that a point and a comma both begin the decimals. */
  function readDegrees(text: string): Reading {
    const cleaned = clean(text).replace(/\s*°$/, '');
    if (cleaned === '') return { state: text.trim() === '' ? 'empty' : 'invalid' };
    const match = /^([+-]?\d+)(?:[.,](\d+))?$/.exec(cleaned);
    return match ? { state: 'read', value: Number(`${match[1]}.${match[2] ?? '0'}`) } : { state: 'invalid' };
  }

  /** A number as the value of an input, which `readNumber` reads as the same number. */
  function toInput(value: number): string {
    // Exactly three decimals look like thousands.
    const minimumFractionDigits = /\.\d{3}$/.test(String(value)) ? 4 : 0;
    const options = { useGrouping: false, minimumFractionDigits, maximumFractionDigits: 10 };
    return new Intl.NumberFormat(locale, options).format(value);
  }

  const shown = new Intl.NumberFormat(locale, { maximumFractionDigits: 10 });
  const choices = new Intl.ListFormat(LOCALE, { type: 'disjunction' });
  const example = new Intl.NumberFormat(locale, { minimumFractionDigits: 2 }).format(1850.5);

  /** What to say about a reading that is not a number; undefined if it is one, or empty. */
  function explain(reading: Reading): string | undefined {
    if (reading.state === 'invalid') return m.faults_not_a_number({ example });
    if (reading.state !== 'unclear') return undefined;
    return m.faults_which_number({ choices: choices.format(reading.choices.map((value) => shown.format(value))) });
  }

  return { readNumber, readDegrees, toInput, explain, decimal };
}

export const { readNumber, readDegrees, toInput, explain, decimal: DECIMAL_SEPARATOR } = numberReader(LOCALE);

/** The value of a text that `readNumber` or `readDegrees` can read; NaN for any other. */
export function valueOf(reading: Reading): number {
  return reading.state === 'read' ? reading.value : NaN;
}
