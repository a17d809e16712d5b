import { expect, test } from 'vitest';
import { parseCsv } from './csv';
import { deviceKey, headingFault, parseRows } from './rows';

const context = { userId: 'dev', isOperator: false, taken: new Set<string>() };
const rows = (text: string, more = {}) => parseRows(parseCsv(text), { ...context, ...more });

test('a file without a header has network, identifier, user', () => {
  expect(rows('Helium, h-1')).toEqual([
    { line: 1, network: 'Helium', deviceIdentifier: 'h-1', userId: 'dev', errors: [], duplicate: undefined },
  ]);
});

test('a header can have any column order, case and extra columns', () => {
  const [row] = rows('Device Identifier,notes,NETWORK\nh-1,roof,Helium');
  expect(row).toMatchObject({ line: 2, network: 'Helium', deviceIdentifier: 'h-1', errors: [] });
});

test('a header can be Spanish', () => {
  const [row] = rows('Número de serie,Red,Dueño\nh-1,Helium,dev');
  expect(row).toMatchObject({ line: 2, network: 'Helium', deviceIdentifier: 'h-1', userId: 'dev', errors: [] });
});

test('a row reports all its errors', () => {
  const [row] = rows(`,${'x'.repeat(256)},ben,more`);
  expect(row?.errors).toEqual([
    'The network is missing.',
    'The identifier is longer than 255 characters.',
    'The row names another user. You can register only your own devices.',
    'The row has more than 3 columns.',
  ]);
  expect(rows('Helium,"a\u0007b"')[0]?.errors).toEqual(['The identifier has invisible characters. Remove them.']);
});

test('an operator registers for other users', () => {
  expect(rows('Helium,h-1,ben', { isOperator: true })[0]).toMatchObject({ userId: 'ben', errors: [] });
});

test('repeated and registered devices are duplicates, not errors', () => {
  const taken = new Set([deviceKey({ network: 'DIMO', deviceIdentifier: 'd-1' })]);
  const found = rows('Helium,h-1\nHelium,h-1\nhelium,h-1\nDIMO,d-1', { taken });
  expect(found.map((row) => row.duplicate)).toEqual([
    undefined,
    'The same as line 1.',
    undefined,
    'Already registered.',
  ]);
});

test('surrogate pairs count as one character', () => {
  expect(rows(`Helium,${'🛰'.repeat(255)}`)[0]?.errors).toEqual([]);
});

test('a heading that names no network is a fault, not a device', () => {
  const fault = (text: string) => headingFault(parseCsv(text));
  expect(fault('serial,type\nSN-1,hotspot')).toContain('has no column for the network');
  expect(fault('network,type\nHelium,hotspot')).toContain('has no column for the identifier');
  expect(fault('network,id,serial\nHelium,1,2')).toContain('names a column twice');
  expect(fault('network,serial number\nHelium,1')).toBeUndefined();
  expect(fault('número de serie,tipo\nSN-1,hotspot')).toContain('has no column for the network');
  expect(fault('Helium,abc')).toBeUndefined();
  expect(fault('')).toBeUndefined();
});

test('the known spelling of a network is used if it is asked for', () => {
  const known = ['Helium'];
  expect(rows('helium,h-1\nHelium,h-1', { known }).map((row) => [row.network, row.duplicate])).toEqual([
    ['Helium', undefined],
    ['Helium', 'The same as line 1.'],
  ]);
  expect(rows('helium,h-1')[0]?.network).toBe('helium');
});
