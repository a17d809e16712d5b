import { expect, test } from 'vitest';
import { ApiError } from '../api/problem';
import { nameOf, sortFaults } from './faults';

const refused = (errors: { pointer?: string; parameter?: string; code: string; message: string }[]) =>
  new ApiError(400, { detail: 'the request has faults', errors });

test('an error is assigned to the field of its pointer', () => {
  const error = refused([{ pointer: '/city', code: 'empty', message: 'must not be empty' }]);
  expect(sortFaults(error, ['city'])).toEqual({ fields: { city: 'Must not be empty.' }, form: '' });
});

test('an error inside an array keeps its index', () => {
  const error = refused([{ pointer: '/protocolItems/2/protocolName', code: 'empty', message: 'must not be empty' }]);
  expect(sortFaults(error, ['protocolItems']).fields).toEqual({ 'protocolItems/2/protocolName': 'Must not be empty.' });
});

test('an alias maps to the field of another name', () => {
  const error = refused([{ pointer: '/addressCity', code: 'empty', message: 'must not be empty' }]);
  expect(sortFaults(error, ['city'], { addressCity: 'city' }).fields).toEqual({ city: 'Must not be empty.' });
});

test('an error without a field belongs to the form', () => {
  const error = refused([
    { pointer: '/hidden', code: 'missing', message: 'is missing' },
    { parameter: 'limit', code: 'out_of_range', message: 'must be 1 to 1000' },
  ]);
  expect(sortFaults(error, ['city'])).toEqual({ fields: {}, form: 'Hidden is missing. Limit must be 1 to 1000.' });
});

test('only the first error of a field is shown', () => {
  const error = refused([
    { pointer: '/city', code: 'too_long', message: 'is too long' },
    { pointer: '/city', code: 'control_character', message: 'has a control character' },
  ]);
  expect(sortFaults(error, ['city']).fields).toEqual({ city: 'Is too long.' });
});

test('an error without field errors shows its message', () => {
  expect(sortFaults(new ApiError(409, { detail: 'this listing exists' }), ['city']).form).toBe('This listing exists.');
  expect(sortFaults(new Error('No way'), []).form).toBe('No way');
});

test('pointers are unescaped', () => {
  expect(nameOf({ pointer: '/a~1b/~0c', code: '', message: '' })).toBe('a/b/~c');
});
