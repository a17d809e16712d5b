// Turns CSV lines into device rows and validates them before they are sent.
import type { Line } from './csv';

export interface Row {
  line: number;
  network: string;
  deviceIdentifier: string;
  userId: string;
  /** Validation errors; empty if the row can be sent. */
  errors: string[];
  /** Set if the device is already in the file or registered; the row is not sent. */
  duplicate?: string;
}

export interface RowContext {
  /** Owner of rows without a user id. */
  userId: string;
  /** May register devices of other users. */
  isOperator: boolean;
  /** Keys of registered devices. */
  taken: ReadonlySet<string>;
}

type Column = 'network' | 'deviceIdentifier' | 'userId';

const COLUMNS: readonly Column[] = ['network', 'deviceIdentifier', 'userId'];
const COLUMN_LABELS: Record<Column, string> = { network: 'network', deviceIdentifier: 'identifier', userId: 'user id' };
const HEADER_ALIASES: Record<string, Column> = {
  network: 'network',
  networkname: 'network',
  deviceidentifier: 'deviceIdentifier',
  identifier: 'deviceIdentifier',
  device: 'deviceIdentifier',
  deviceid: 'deviceIdentifier',
  id: 'deviceIdentifier',
  userid: 'userId',
  user: 'userId',
  owner: 'userId',
};
const MAX_FIELD_LENGTH = 255;
// eslint-disable-next-line no-control-regex -- matches control characters on purpose
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/;

export function deviceKey(device: { network: string; deviceIdentifier: string }): string {
  return JSON.stringify([device.network, device.deviceIdentifier]);
}

export function parseRows(lines: readonly Line[], context: RowContext): Row[] {
  const header = lines[0] && parseHeader(lines[0]);
  const columns = header ?? COLUMNS;
  const firstLineByKey = new Map<string, number>();
  return lines.slice(header ? 1 : 0).map(({ line, cells }) => {
    const values = { network: '', deviceIdentifier: '', userId: '' };
    for (const [i, name] of columns.entries()) if (name) values[name] = (cells[i] ?? '').trim();
    const errors = validateRow(values, context);
    // With extra columns, the assumed column order may be wrong.
    if (cells.slice(columns.length).some((cell) => cell.trim() !== '')) {
      errors.push(`More than ${columns.length} columns.`);
    }
    const row: Row = { line, ...values, userId: values.userId || context.userId, errors };
    if (errors.length === 0) row.duplicate = findDuplicate(row, firstLineByKey, context.taken);
    return row;
  });
}

function validateRow(values: Record<Column, string>, { userId, isOperator }: RowContext): string[] {
  const errors: string[] = [];
  for (const name of COLUMNS) {
    const value = values[name];
    if (value === '' && name !== 'userId') errors.push(`The ${COLUMN_LABELS[name]} is missing.`);
    // The service counts code points, not UTF-16 code units.
    if ([...value].length > MAX_FIELD_LENGTH)
      errors.push(`The ${COLUMN_LABELS[name]} is longer than ${MAX_FIELD_LENGTH} characters.`);
    if (CONTROL_CHARACTERS.test(value)) errors.push(`The ${COLUMN_LABELS[name]} has characters that cannot be seen.`);
  }
  if (!isOperator && values.userId !== '' && values.userId !== userId) errors.push('It belongs to somebody else.');
  return errors;
}

function findDuplicate(row: Row, firstLineByKey: Map<string, number>, taken: ReadonlySet<string>): string | undefined {
  const key = deviceKey(row);
  const first = firstLineByKey.get(key);
  if (first !== undefined) return `The same as line ${first}.`;
  firstLineByKey.set(key, row.line);
  return taken.has(key) ? 'Registered already.' : undefined;
}

/** The columns of a header line, undefined for unknown ones; undefined if the line is not a header. */
function parseHeader({ cells }: Line): (Column | undefined)[] | undefined {
  const columns = cells.map((cell) => HEADER_ALIASES[cell.toLowerCase().replace(/[\s_-]/g, '')]);
  const isUnique = COLUMNS.every((name) => columns.filter((column) => column === name).length <= 1);
  return isUnique && columns.includes('network') && columns.includes('deviceIdentifier') ? columns : undefined;
}
