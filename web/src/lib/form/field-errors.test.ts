import { expect, test } from 'vitest';
import type { ReportedFault } from '../api/faults';
import { ApiError } from '../api/problem';
import { fieldName, assignErrors } from './field-errors';

const apiError = (errors: ReportedFault[]) => new ApiError(400, { detail: 'the request has faults', errors });

test('an error is assigned to the field of its pointer', () => {
  const error = apiError([{ pointer: '/city', code: 'empty', message: 'must not be empty' }]);
  expect(assignErrors(error, ['city'])).toEqual({ fields: { city: 'Enter the city.' }, form: '' });
});

test('an error inside an array keeps its index', () => {
  const error = apiError([{ pointer: '/protocolItems/2/protocolName', code: 'empty', message: 'must not be empty' }]);
  expect(assignErrors(error, ['protocolItems']).fields).toEqual({
    'protocolItems/2/protocolName': 'Enter the protocol.',
  });
});

test('an alias maps to the field of another name', () => {
  const error = apiError([{ pointer: '/addressCity', code: 'empty', message: 'must not be empty' }]);
  expect(assignErrors(error, ['city'], { addressCity: 'city' }).fields).toEqual({ city: 'Enter the city.' });
});

test('an error without a field belongs to the form', () => {
  const error = apiError([
    { pointer: '/hidden', code: 'missing', message: 'is missing' },
    { parameter: 'limit', code: 'out_of_range', message: 'must be 1 to 1000', min: 1, max: 1000 },
  ]);
  expect(assignErrors(error, ['city'])).toEqual({
    fields: {},
    form: 'hidden: Enter a value. limit: Enter a number from 1 to 1,000.',
  });
});

test('only the first error of a field is shown', () => {
  const error = apiError([
    { pointer: '/city', code: 'too_long', message: 'is too long', max: 255 },
    { pointer: '/city', code: 'control_character', message: 'has a control character' },
  ]);
  expect(assignErrors(error, ['city']).fields).toEqual({ city: 'Use at most 255 characters.' });
});

test('an error without field errors shows its message', () => {
  expect(assignErrors(new ApiError(409, { detail: 'this listing exists' }), ['city']).form).toBe(
    'This listing exists.',
  );
  expect(assignErrors(new Error('No way'), []).form).toBe('No way');
});

test('pointers are unescaped', () => {
  expect(fieldName({ pointer: '/a~1b/~0c' })).toBe('a/b/~c');
});
