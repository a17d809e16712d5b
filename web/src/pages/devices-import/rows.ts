// Turns CSV lines into device rows and validates them before they are sent.
import type { Line } from './csv';

export interface Row {
  line: number;
  network: string;
  deviceIdentifier: string;
  userId: string;
  /** Validation errors; empty if the row can be sent. */
  faults: string[];
  /** Set if the device is already in the file or registered; the row is not sent. */
  duplicate?: string;
}

export interface Around {
  /** Owner of rows without a user id. */
  userId: string;
  /** May register devices of other users. */
  operator: boolean;
  /** Keys of registered devices. */
  taken: ReadonlySet<string>;
}

type Column = 'network' | 'deviceIdentifier' | 'userId';

const COLUMNS: readonly Column[] = ['network', 'deviceIdentifier', 'userId'];
const WORDS: Record<Column, string> = { network: 'network', deviceIdentifier: 'identifier', userId: 'user id' };
const NAMES: Record<string, Column> = {
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
const LONGEST = 255;
// eslint-disable-next-line no-control-regex -- matches control characters on purpose
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

export function keyOf(device: { network: string; deviceIdentifier: string }): string {
  return JSON.stringify([device.network, device.deviceIdentifier]);
}

export function rowsOf(lines: readonly Line[], around: Around): Row[] {
  const head = lines[0] && headOf(lines[0]);
  const columns = head ?? COLUMNS;
  const firstAt = new Map<string, number>();
  return lines.slice(head ? 1 : 0).map(({ line, cells }) => {
    const values = { network: '', deviceIdentifier: '', userId: '' };
    for (const [i, name] of columns.entries()) if (name) values[name] = (cells[i] ?? '').trim();
    const faults = faultsOf(values, around);
    // With extra columns, the assumed column order may be wrong.
    if (cells.slice(columns.length).some((cell) => cell.trim() !== '')) {
      faults.push(`More than ${columns.length} columns.`);
    }
    const row: Row = { line, ...values, userId: values.userId || around.userId, faults };
    if (faults.length === 0) row.duplicate = duplicateOf(row, firstAt, around.taken);
    return row;
  });
}

function faultsOf(values: Record<Column, string>, { userId, operator }: Around): string[] {
  const faults: string[] = [];
  for (const name of COLUMNS) {
    const value = values[name];
    if (value === '' && name !== 'userId') faults.push(`The ${WORDS[name]} is missing.`);
    // The service counts code points, not UTF-16 code units.
    if ([...value].length > LONGEST) faults.push(`The ${WORDS[name]} is longer than ${LONGEST} characters.`);
    if (CONTROL.test(value)) faults.push(`The ${WORDS[name]} has characters that cannot be seen.`);
  }
  if (!operator && values.userId !== '' && values.userId !== userId) faults.push('It belongs to somebody else.');
  return faults;
}

function duplicateOf(row: Row, firstAt: Map<string, number>, taken: ReadonlySet<string>): string | undefined {
  const key = keyOf(row);
  const first = firstAt.get(key);
  if (first !== undefined) return `The same as line ${first}.`;
  firstAt.set(key, row.line);
  return taken.has(key) ? 'Registered already.' : undefined;
}

/** The columns of a header line, undefined for unknown ones; undefined if the line is not a header. */
function headOf({ cells }: Line): (Column | undefined)[] | undefined {
  const columns = cells.map((cell) => NAMES[cell.toLowerCase().replace(/[\s_-]/g, '')]);
  const once = COLUMNS.every((name) => columns.filter((column) => column === name).length <= 1);
  return once && columns.includes('network') && columns.includes('deviceIdentifier') ? columns : undefined;
}
