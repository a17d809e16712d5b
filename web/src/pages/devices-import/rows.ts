// What the lines of a file mean, and everything that is wrong with them, before anything is sent.
import type { Line } from './csv';

export interface Row {
  line: number;
  network: string;
  deviceIdentifier: string;
  userId: string;
  /** Everything that the service would refuse it for. */
  faults: string[];
  /** Why it need not be sent: it stands in the file or in the service already. */
  duplicate?: string;
}

export interface Around {
  /** Whose devices they are where the file does not say. */
  userId: string;
  /** May register for others. */
  operator: boolean;
  /** Keys of devices that are registered already. */
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
// eslint-disable-next-line no-control-regex -- they are what is looked for
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
    // Whoever takes the first three columns for these may be wrong about all of them.
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
    // The service counts characters, not the halves that some are made of.
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

/** The columns that a first line names; undefined if it is a device itself. Columns of other names are passed over. */
function headOf({ cells }: Line): (Column | undefined)[] | undefined {
  const columns = cells.map((cell) => NAMES[cell.toLowerCase().replace(/[\s_-]/g, '')]);
  const once = COLUMNS.every((name) => columns.filter((column) => column === name).length <= 1);
  return once && columns.includes('network') && columns.includes('deviceIdentifier') ? columns : undefined;
}
