import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LOCALES, readCatalogue } from '../i18n/catalogue';
import { enterField, faultMessage } from './faults';
import { ApiError } from './problem';

const { schemas } = (
  JSON.parse(readFileSync('openapi.json', 'utf8')) as {
    components: { schemas: Record<string, { properties: { code: { enum: string[] } } }> };
  }
).components;
const errorCodes = schemas.Problem?.properties.code.enum ?? [];
const faultCodes = schemas.FieldError?.properties.code.enum ?? [];
const SERVER_TEXT = 'words of the service';
const fault = (code: string, more: object = {}) => ({ code, message: SERVER_TEXT, ...more });

test('the document names codes', () => {
  expect(errorCodes).toContain('unauthenticated');
  expect(faultCodes).toContain('too_long');
});

test.each(errorCodes)('the error %s has words of the console', (code) => {
  const { message } = new ApiError(400, { code, detail: SERVER_TEXT } as never);
  expect(message).toMatch(/^\p{Lu}.*\.$/u);
  expect(message).not.toContain(SERVER_TEXT);
});

test.each(faultCodes)('the fault %s has words of the console', (code) => {
  for (const found of [fault(code), fault(code, { pointer: '/city', min: 1, max: 2 })]) {
    expect(faultMessage(found)).toMatch(/^\p{Lu}/u);
    expect(faultMessage(found).toLowerCase()).not.toContain(SERVER_TEXT);
  }
});

describe.each(LOCALES)('%s', (locale) => {
  test('every error code has a message', () => {
    const { texts } = readCatalogue(locale);
    expect(errorCodes.filter((code) => !(`faults_error_${code}` in texts))).toEqual([]);
  });
});

test('an unknown code shows the words of the service', () => {
  expect(faultMessage(fault('brand_new'))).toBe('Words of the service.');
  expect(faultMessage(fault('toString'))).toBe('Words of the service.');
  expect(new ApiError(400, { code: 'brand_new', detail: SERVER_TEXT } as never).message).toBe('Words of the service.');
});

test('a fault names its field and its limits', () => {
  expect(enterField('addressStreet')).toBe('Enter the street.');
  expect(enterField('somethingElse')).toBe('Enter a value.');
  expect(faultMessage(fault('missing', { pointer: '/protocolItems/0/protocolName' }))).toBe('Enter the protocol.');
  expect(faultMessage(fault('out_of_range', { pointer: '/monthlyRent', min: 0, max: 99999999999 }))).toBe(
    'Enter a number from 0 to 99,999,999,999.',
  );
  expect(faultMessage(fault('too_long', { pointer: '/name', max: 255 }))).toBe('Use at most 255 characters.');
  expect(faultMessage(fault('below_minimum', { pointer: '/terms/prefCredit' }))).toBe(
    'Preferred credit must be at least the minimum.',
  );
});

test('an invalid request says what is wrong with each value', () => {
  const errors = [fault('empty', { pointer: '/city' }), fault('not_whole', { pointer: '/minCredit' })];
  const { message } = new ApiError(400, { code: 'invalid_request', detail: 'the request has 2 faults', errors });
  expect(message).toBe('Enter the city. Enter a whole number.');
});

test('an expired session is said so', () => {
  expect(new ApiError(401, { code: 'unauthenticated' }).message).toBe('Your session has expired. Sign in again.');
});
