// Shares as integers of 1/10,000 percent, like the service, because floating-point sums such as 33.3 + 66.7 are inexact.
const UNIT = 10_000;
const DECIMALS = 4;
export const WHOLE = 100 * UNIT;

/** The decimal separator of the user's locale. */
export const DECIMAL_MARK =
  new Intl.NumberFormat(typeof navigator === 'undefined' ? 'en-US' : navigator.language)
    .formatToParts(1.5)
    .find((part) => part.type === 'decimal')?.value ?? '.';

export type Share = { units: number; fault?: undefined } | { units?: undefined; fault: string };

export function parseShare(text: string, mark = DECIMAL_MARK): Share {
  const plain = text.trim().replace(/\s*%$/, '').replace(mark, '.');
  if (plain === '') return { fault: 'How many percent?' };
  const found = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(plain);
  const [, sign, whole = '', rest = ''] = found ?? [];
  if (!found || whole + rest === '') return { fault: 'Not a number.' };
  const decimals = rest.replace(/0+$/, '');
  const units = Number(whole) * UNIT + Number(decimals.slice(0, DECIMALS).padEnd(DECIMALS, '0'));
  const below = sign === '-' && (units > 0 || decimals !== '');
  const above = units > WHOLE || (units === WHOLE && decimals !== '');
  if (below || above) return { fault: 'From 0 to 100.' };
  return decimals.length > DECIMALS ? { fault: `At most ${DECIMALS} decimals.` } : { units };
}

export function unitsOf(share: number): number {
  return Math.round(share * UNIT);
}

/** Converts units to a percentage with at most four decimals. */
export function numberOf(units: number): number {
  return units / UNIT;
}

/** Formats units as an input value. */
export function textOf(units: number, mark = DECIMAL_MARK): string {
  return String(numberOf(units)).replace('.', mark);
}

/** Splits 100% into equal parts; the remainder goes to the first ones, so that the sum is exact. */
export function evenly(count: number): number[] {
  const part = Math.floor(WHOLE / count);
  return Array.from({ length: count }, (_, i) => part + (i < WHOLE % count ? 1 : 0));
}
