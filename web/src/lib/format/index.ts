// Formats numbers, money and time in the user's locale. Intl formatters are cached because they are expensive to create.
import { LOCALE } from './locale';

export interface Formats {
  number(value: number, digits?: number): string;
  compact(value: number): string;
  percent(value: number): string;
  money(value: number, currency?: string): string;
  /** With all decimals of the currency, so that 1.85 cannot be taken for 1,850. */
  exactMoney(value: number, currency?: string): string;
  date(value: string | Date): string;
  time(value: string | Date): string;
  ago(value: string | Date, now?: Date): string;
}

const RELATIVE_UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

export function formats(locale: string | undefined): Formats {
  const cache = new Map<string, Intl.NumberFormat>();
  const numberFormat = (options: Intl.NumberFormatOptions) => {
    const key = JSON.stringify(options);
    let format = cache.get(key);
    if (!format) cache.set(key, (format = new Intl.NumberFormat(locale, options)));
    return format;
  };
  const dateFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  const dateTimeFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  const relativeFormat = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });

  return {
    number: (value, digits = 4) => numberFormat({ maximumFractionDigits: digits }).format(value),
    compact: (value) => numberFormat({ notation: 'compact', maximumFractionDigits: 1 }).format(value),
    /** Formats a value from 0 to 100, as the API returns it. */
    percent: (value) => numberFormat({ style: 'percent', maximumFractionDigits: 4 }).format(value / 100),
    money: (value, currency = 'USD') =>
      numberFormat({ style: 'currency', currency, minimumFractionDigits: Number.isInteger(value) ? 0 : 2 }).format(
        value,
      ),
    exactMoney: (value, currency = 'USD') =>
      numberFormat({ style: 'currency', currency, maximumFractionDigits: 4 }).format(value),
    date: (value) => dateFormat.format(new Date(value)),
    time: (value) => dateTimeFormat.format(new Date(value)),
    ago: (value, now = new Date()) => {
      const seconds = Math.round((new Date(value).getTime() - now.getTime()) / 1000);
      if (Math.abs(seconds) >= 30 * 86_400) return dateFormat.format(new Date(value));
      const [unit, size] = RELATIVE_UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
      return relativeFormat.format(Math.trunc(seconds / size), unit);
    },
  };
}

export const { number, compact, percent, money, exactMoney, date, time, ago } = formats(LOCALE);

/** Shortens a hash or address to `0x1234…cdef`. */
export function shorten(text: string, start = 6, end = 4): string {
  return text.length <= start + end + 1 ? text : `${text.slice(0, start)}…${text.slice(-end)}`;
}

/** The name of a country code in the user's language; other text is returned unchanged. */
export function countryName(code: string): string {
  if (!/^[A-Za-z]{2}$/.test(code)) return code;
  return new Intl.DisplayNames(LOCALE, { type: 'region', fallback: 'code' }).of(code.toUpperCase()) ?? code;
}

/** The symbol of a currency before amounts in form fields, if it is one character. */
export function currencyPrefix(currency: string): string | undefined {
  const parts = new Intl.NumberFormat(LOCALE, { style: 'currency', currency }).formatToParts(0);
  const symbol = parts.find(({ type }) => type === 'currency')?.value;
  return symbol?.length === 1 ? symbol : undefined;
}
