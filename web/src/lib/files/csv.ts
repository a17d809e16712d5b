// Writes CSV as RFC 4180 has it, so that spreadsheets read it: with a byte order mark, and no cell is a formula.
export type Cell = string | number | undefined;

const BYTE_ORDER_MARK = '\ufeff';
/** A spreadsheet runs text that begins so. A leading tab or line break hides it. */
const FORMULA = /^[\t\r\n]*[=+\-@]/;

export function toCsv(rows: readonly (readonly Cell[])[]): string {
  return BYTE_ORDER_MARK + rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('');
}

function toCell(value: Cell): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
