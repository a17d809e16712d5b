// The four checks with their labels, and the fields about an applicant that they need.
import type { Pipeline } from '$lib/api';
import { m } from '$lib/i18n';
import { CHECK_LABELS } from '$lib/listings/checks';

export const APPLICANT_FIELDS = [
  'FirstName',
  'LastName',
  'DateOfBirth',
  'SSN',
  'StreetAddress',
  'City',
  'State',
  'Email',
  'PostalCode',
  'OpenBankingSubscriptionId',
  'OpenBankingToken',
] as const;
export type ApplicantField = (typeof APPLICANT_FIELDS)[number];
export type Applicant = Record<ApplicantField, string>;

export const FIELD_LABELS: Record<ApplicantField, string> = {
  FirstName: m.screening_first_name(),
  LastName: m.screening_last_name(),
  DateOfBirth: m.screening_date_of_birth(),
  SSN: m.screening_ssn(),
  StreetAddress: m.screening_street(),
  City: m.screening_city(),
  State: m.screening_state(),
  Email: m.screening_email(),
  PostalCode: m.screening_postal_code(),
  OpenBankingSubscriptionId: m.screening_bank_subscription(),
  OpenBankingToken: m.screening_bank_token(),
};

export interface Check {
  /** Name in verification results. */
  id: string;
  /** Name in the pipeline. */
  pipelineField: keyof Pipeline & `${string}Check`;
  label: string;
  question: string;
  requiredFields: ApplicantField[];
}

export const CHECKS: readonly Check[] = [
  {
    id: 'eviction',
    pipelineField: 'EvictionCheck',
    label: CHECK_LABELS.eviction,
    question: m.screening_question_eviction(),
    requiredFields: ['FirstName', 'LastName', 'DateOfBirth'],
  },
  {
    id: 'income',
    pipelineField: 'IncomeCheck',
    label: CHECK_LABELS.income,
    question: m.screening_question_income(),
    requiredFields: ['OpenBankingToken'],
  },
  {
    id: 'softCredit',
    pipelineField: 'SoftCreditCheck',
    label: CHECK_LABELS.softCredit,
    question: m.screening_question_credit(),
    requiredFields: ['FirstName', 'LastName', 'SSN'],
  },
  {
    id: 'criminalBackground',
    pipelineField: 'CriminalBackgroundCheck',
    label: CHECK_LABELS.criminalBackground,
    question: m.screening_question_criminal(),
    requiredFields: ['FirstName', 'LastName', 'DateOfBirth'],
  },
];

export function missingFields(check: Check, applicant: Applicant): ApplicantField[] {
  return check.requiredFields.filter((field) => applicant[field].trim() === '');
}
