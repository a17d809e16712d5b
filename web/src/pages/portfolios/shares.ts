// Shares in whole ten-thousandths of a percent, as the service counts them: in binary fractions 33.3 + 66.7 can miss 100.
const UNIT = 10_000;
const DECIMALS = 4;
export const WHOLE = 100 * UNIT;

/** What the reader's locale writes between 62 and 5. */
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

/** The number that the service takes: exact, because it has at most four decimals. */
export function numberOf(units: number): number {
  return units / UNIT;
}

/** As somebody would type it. */
export function textOf(units: number, mark = DECIMAL_MARK): string {
  return String(numberOf(units)).replace('.', mark);
}

/** The whole in equal parts; what cannot be divided goes to the first ones, so that the sum is exactly 100. */
export function evenly(count: number): number[] {
  const part = Math.floor(WHOLE / count);
  return Array.from({ length: count }, (_, i) => part + (i < WHOLE % count ? 1 : 0));
}
