// Turns CSV lines into device rows and validates them before they are sent.
import { number } from '$lib/format';
import { m } from '$lib/i18n';
import { otherSpelling } from '../devices/networks';
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
  /** Networks as they are spelled already, to be used instead of other spellings. */
  known?: readonly string[];
  /** Keys of registered devices. */
  taken: ReadonlySet<string>;
}

type Column = 'network' | 'deviceIdentifier' | 'userId';

const COLUMNS: readonly Column[] = ['network', 'deviceIdentifier', 'userId'];
const MISSING = { network: m.devices_import_network_missing, deviceIdentifier: m.devices_import_identifier_missing };
const TOO_LONG = {
  network: m.devices_import_network_long,
  deviceIdentifier: m.devices_import_identifier_long,
  userId: m.devices_import_owner_long,
};
const INVISIBLE = {
  network: m.devices_import_network_hidden,
  deviceIdentifier: m.devices_import_identifier_hidden,
  userId: m.devices_import_owner_hidden,
};
const HEADER_ALIASES: Record<string, Column> = {
  network: 'network',
  networkname: 'network',
  deviceidentifier: 'deviceIdentifier',
  identifier: 'deviceIdentifier',
  device: 'deviceIdentifier',
  deviceid: 'deviceIdentifier',
  serial: 'deviceIdentifier',
  serialnumber: 'deviceIdentifier',
  id: 'deviceIdentifier',
  userid: 'userId',
  user: 'userId',
  owner: 'userId',
  red: 'network',
  identificador: 'deviceIdentifier',
  dispositivo: 'deviceIdentifier',
  serie: 'deviceIdentifier',
  numerodeserie: 'deviceIdentifier',
  usuario: 'userId',
  dueno: 'userId',
};
/** Further words that are the heading of a column and never a network. */
const OTHER_HEADINGS = [
  ...['type', 'kind', 'model', 'make', 'brand', 'vendor', 'name', 'label', 'title', 'status', 'state', 'location'],
  ...[
    'place',
    'address',
    'city',
    'country',
    'notes',
    'note',
    'comment',
    'description',
    'date',
    'created',
    'mac',
    'imei',
  ],
  ...['tipo', 'modelo', 'marca', 'nombre', 'estado', 'ciudad', 'pais', 'notas', 'descripcion', 'fecha', 'numero'],
  ...['protocol', 'project', 'chain', 'email', 'account', 'number', 'no', 'key', 'hotspot', 'miner', 'sn', 'uuid'],
];
const MAX_FIELD_LENGTH = 255;
// eslint-disable-next-line no-control-regex -- matches control characters on purpose
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

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
    values.network = otherSpelling(values.network, context.known ?? []) ?? values.network;
    const errors = validateRow(values, context);
    // With extra columns, the assumed column order may be wrong.
    if (cells.slice(columns.length).some((cell) => cell.trim() !== '')) {
      errors.push(m.devices_import_more_columns({ n: number(columns.length) }));
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
    if (value === '' && name !== 'userId') errors.push(MISSING[name]());
    // The service counts code points, not UTF-16 code units.
    if ([...value].length > MAX_FIELD_LENGTH) errors.push(TOO_LONG[name]({ max: number(MAX_FIELD_LENGTH) }));
    if (CONTROL_CHARACTERS.test(value)) errors.push(INVISIBLE[name]());
  }
  if (!isOperator && values.userId !== '' && values.userId !== userId) errors.push(m.devices_import_foreign());
  return errors;
}

function findDuplicate(row: Row, firstLineByKey: Map<string, number>, taken: ReadonlySet<string>): string | undefined {
  const key = deviceKey(row);
  const first = firstLineByKey.get(key);
  if (first !== undefined) return m.devices_import_same_as({ line: number(first) });
  firstLineByKey.set(key, row.line);
  return taken.has(key) ? m.devices_import_taken() : undefined;
}

/** Why the first line, although it is a heading, does not say which columns to read. */
export function headingFault(lines: readonly Line[]): string | undefined {
  const [first] = lines;
  if (!first || parseHeader(first)) return undefined;
  const names = first.cells.map(toHeading).filter((name) => name !== '');
  const isHeading =
    names.length > 0 && names.every((name) => Object.hasOwn(HEADER_ALIASES, name) || OTHER_HEADINGS.includes(name));
  if (!isHeading) return undefined;
  const columns = names.map((name) => HEADER_ALIASES[name]);
  if (columns.includes('network') && columns.includes('deviceIdentifier')) return m.devices_import_heading_twice();
  const heading = first.cells.join(', ');
  return columns.includes('network')
    ? m.devices_import_heading_no_identifier({ heading })
    : m.devices_import_heading_no_network({ heading });
}

function toHeading(cell: string): string {
  return cell
    .normalize('NFD')
    .toLowerCase()
    .replace(/[\s_\p{M}-]/gu, '');
}

/** The columns of a header line, undefined for unknown ones; undefined if the line is not a header. */
function parseHeader({ cells }: Line): (Column | undefined)[] | undefined {
  const columns = cells.map((cell) => HEADER_ALIASES[toHeading(cell)]);
  const isUnique = COLUMNS.every((name) => columns.filter((column) => column === name).length <= 1);
  return isUnique && columns.includes('network') && columns.includes('deviceIdentifier') ? columns : undefined;
}
