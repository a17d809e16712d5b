// Shares as integers of 1/10,000 percent, like the service, because floating-point sums such as 33.3 + 66.7 are inexact.
import { number } from '$lib/format';
import { DECIMAL_SEPARATOR } from '$lib/format/read-number';
import { m } from '$lib/i18n';

const UNITS_PER_PERCENT = 10_000;
const MAX_DECIMALS = 4;
export const FULL_UNITS = 100 * UNITS_PER_PERCENT;

export type Share = { units: number; error?: undefined } | { units?: undefined; error: string };

export function parseShare(text: string, separator = DECIMAL_SEPARATOR): Share {
  const normalized = text.trim().replace(/\s*%$/, '').replace(separator, '.');
  if (normalized === '') return { error: m.portfolios_share_missing() };
  const match = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(normalized);
  const [, sign, whole = '', rest = ''] = match ?? [];
  if (!match || whole + rest === '') return { error: m.portfolios_share_not_a_number() };
  const decimals = rest.replace(/0+$/, '');
  const units = Number(whole) * UNITS_PER_PERCENT + Number(decimals.slice(0, MAX_DECIMALS).padEnd(MAX_DECIMALS, '0'));
  const isNegative = sign === '-' && (units > 0 || decimals !== '');
  const isTooLarge = units > FULL_UNITS || (units === FULL_UNITS && decimals !== '');
  if (isNegative || isTooLarge) return { error: m.portfolios_share_out_of_range() };
  return decimals.length > MAX_DECIMALS
    ? { error: m.portfolios_share_decimals({ n: number(MAX_DECIMALS) }) }
    : { units };
}

export function toUnits(share: number): number {
  return Math.round(share * UNITS_PER_PERCENT);
}

/** Converts units to a percentage with at most four decimals. */
export function toPercent(units: number): number {
  return units / UNITS_PER_PERCENT;
}

/** Formats units as an input value. */
export function formatUnits(units: number, separator = DECIMAL_SEPARATOR): string {
  return String(toPercent(units)).replace('.', separator);
}

/** Splits 100% into equal parts; the remainder goes to the first ones, so that the sum is exact. */
export function splitEvenly(count: number): number[] {
  const part = Math.floor(FULL_UNITS / count);
  return Array.from({ length: count }, (_, i) => part + (i < FULL_UNITS % count ? 1 : 0));
}
