import { expect, test } from 'vitest';
import { CHECKS, APPLICANT_FIELDS, missingFields, type Applicant } from './checks';
import { TEST_APPLICANTS } from './test-applicants';

const nobody = Object.fromEntries(APPLICANT_FIELDS.map((field) => [field, ''])) as Applicant;
const of = (id: string) => CHECKS.find((check) => check.id === id) ?? CHECKS[0];

test('a check lists its missing fields', () => {
  const credit = of('softCredit');
  expect(credit && missingFields(credit, nobody)).toEqual(['FirstName', 'LastName', 'SSN']);
  expect(credit && missingFields(credit, { ...nobody, FirstName: 'A', LastName: 'B', SSN: '1' })).toEqual([]);
});

test('every test applicant lets every check run', () => {
  for (const { applicant } of TEST_APPLICANTS)
    for (const check of CHECKS) expect(missingFields(check, applicant)).toEqual([]);
});
