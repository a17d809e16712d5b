import { expect, test } from 'vitest';
import { parseCsv } from './csv';
import { deviceKey, parseRows } from './rows';

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

test('a row reports all its errors', () => {
  const [row] = rows(`,${'x'.repeat(256)},ben,more`);
  expect(row?.errors).toEqual([
    'The network is missing.',
    'The identifier is longer than 255 characters.',
    'It belongs to somebody else.',
    'More than 3 columns.',
  ]);
  expect(rows('Helium,"a\u0007b"')[0]?.errors).toEqual(['The identifier has characters that cannot be seen.']);
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
    'Registered already.',
  ]);
});

test('surrogate pairs count as one character', () => {
  expect(rows(`Helium,${'🛰'.repeat(255)}`)[0]?.errors).toEqual([]);
});
