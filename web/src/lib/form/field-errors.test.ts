import { expect, test } from 'vitest';
import { ApiError } from '../api/problem';
import { fieldName, assignErrors } from './field-errors';

const apiError = (errors: { pointer?: string; parameter?: string; code: string; message: string }[]) =>
  new ApiError(400, { detail: 'the request has faults', errors });

test('an error is assigned to the field of its pointer', () => {
  const error = apiError([{ pointer: '/city', code: 'empty', message: 'must not be empty' }]);
  expect(assignErrors(error, ['city'])).toEqual({ fields: { city: 'Must not be empty.' }, form: '' });
});

test('an error inside an array keeps its index', () => {
  const error = apiError([{ pointer: '/protocolItems/2/protocolName', code: 'empty', message: 'must not be empty' }]);
  expect(assignErrors(error, ['protocolItems']).fields).toEqual({
    'protocolItems/2/protocolName': 'Must not be empty.',
  });
});

test('an alias maps to the field of another name', () => {
  const error = apiError([{ pointer: '/addressCity', code: 'empty', message: 'must not be empty' }]);
  expect(assignErrors(error, ['city'], { addressCity: 'city' }).fields).toEqual({ city: 'Must not be empty.' });
});

test('an error without a field belongs to the form', () => {
  const error = apiError([
    { pointer: '/hidden', code: 'missing', message: 'is missing' },
    { parameter: 'limit', code: 'out_of_range', message: 'must be 1 to 1000' },
  ]);
  expect(assignErrors(error, ['city'])).toEqual({ fields: {}, form: 'Hidden is missing. Limit must be 1 to 1000.' });
});

test('only the first error of a field is shown', () => {
  const error = apiError([
    { pointer: '/city', code: 'too_long', message: 'is too long' },
    { pointer: '/city', code: 'control_character', message: 'has a control character' },
  ]);
  expect(assignErrors(error, ['city']).fields).toEqual({ city: 'Is too long.' });
});

test('an error without field errors shows its message', () => {
  expect(assignErrors(new ApiError(409, { detail: 'this listing exists' }), ['city']).form).toBe(
    'This listing exists.',
  );
  expect(assignErrors(new Error('No way'), []).form).toBe('No way');
});

test('pointers are unescaped', () => {
  expect(fieldName({ pointer: '/a~1b/~0c', code: '', message: '' })).toBe('a/b/~c');
});
