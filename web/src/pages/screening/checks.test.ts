import { expect, test } from 'vitest';
import { CHECKS, FIELDS, HINTS, inWords, missing, type Applicant } from './checks';

const nobody = Object.fromEntries(FIELDS.map((field) => [field, ''])) as Applicant;
const of = (id: string) => CHECKS.find((check) => check.id === id) ?? CHECKS[0];

test('a check lists its missing fields', () => {
  const credit = of('softCredit');
  expect(credit && missing(credit, nobody)).toEqual(['FirstName', 'LastName', 'SSN']);
  expect(credit && missing(credit, { ...nobody, FirstName: 'A', LastName: 'B', SSN: '1' })).toEqual([]);
});

test('every test applicant lets every check run', () => {
  for (const { applicant } of HINTS) for (const check of CHECKS) expect(missing(check, applicant)).toEqual([]);
});

test('check ids become labels', () => {
  expect(inWords('is required by the softCredit check')).toBe('is required by the credit check');
});
