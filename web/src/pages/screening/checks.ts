// The four checks with their labels, and the test applicants of the sandbox bureau.
import type { Pipeline } from '$lib/api';
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
  FirstName: 'First name',
  LastName: 'Last name',
  DateOfBirth: 'Date of birth',
  SSN: 'Social security number',
  StreetAddress: 'Street address',
  City: 'City',
  State: 'State',
  Email: 'E-mail',
  PostalCode: 'Postal code',
  OpenBankingSubscriptionId: 'Subscription id',
  OpenBankingToken: 'Bank access token',
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
    question: 'Has the applicant ever been evicted?',
    requiredFields: ['FirstName', 'LastName', 'DateOfBirth'],
  },
  {
    id: 'income',
    pipelineField: 'IncomeCheck',
    label: CHECK_LABELS.income,
    question: 'What does the applicant earn in a year? Their bank tells.',
    requiredFields: ['OpenBankingToken'],
  },
  {
    id: 'softCredit',
    pipelineField: 'SoftCreditCheck',
    label: CHECK_LABELS.softCredit,
    question: 'Is the credit score high enough? Asking does not lower it.',
    requiredFields: ['FirstName', 'LastName', 'SSN'],
  },
  {
    id: 'criminalBackground',
    pipelineField: 'CriminalBackgroundCheck',
    label: CHECK_LABELS.criminalBackground,
    question: 'Is there a criminal record?',
    requiredFields: ['FirstName', 'LastName', 'DateOfBirth'],
  },
];

export function missingFields(check: Check, applicant: Applicant): ApplicantField[] {
  return check.requiredFields.filter((field) => applicant[field].trim() === '');
}

/** Replaces check ids in a message of the service with their labels. */
export function replaceCheckIds(text: string): string {
  return CHECKS.reduce(
    (words, { id, label }) => words.replace(`the ${id} check`, `the ${label.toLowerCase()} check`),
    text,
  );
}

const GOOD: Applicant = {
  FirstName: 'Grace',
  LastName: 'Hopper',
  DateOfBirth: '1990-12-10',
  SSN: '900-00-0720',
  StreetAddress: '12 Oak Street',
  City: 'Austin',
  State: 'TX',
  PostalCode: '78701',
  Email: 'grace@example.com',
  OpenBankingSubscriptionId: 'demo',
  OpenBankingToken: 'income-85000',
};

export const TEST_APPLICANTS: readonly { label: string; description: string; applicant: Applicant }[] = [
  { label: 'Good applicant', description: 'score 720, income 85,000, nothing on file', applicant: GOOD },
  { label: 'Low score', description: 'score 540', applicant: { ...GOOD, SSN: '900-00-0540' } },
  { label: 'Evicted', description: 'an eviction on file', applicant: { ...GOOD, LastName: 'Evicted' } },
  { label: 'Criminal record', description: 'a record on file', applicant: { ...GOOD, LastName: 'Record' } },
  { label: 'Bureau down', description: 'a bureau that fails', applicant: { ...GOOD, LastName: 'Down' } },
  { label: 'Bureau silent', description: 'a bureau that never answers', applicant: { ...GOOD, LastName: 'Timeout' } },
];
