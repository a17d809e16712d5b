// The four checks with their labels, and the test applicants of the sandbox bureau.
import type { Pipeline } from '$lib/api';

export const FIELDS = [
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
export type ApplicantField = (typeof FIELDS)[number];
export type Applicant = Record<ApplicantField, string>;

export const NAMES: Record<ApplicantField, string> = {
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
  switch: keyof Pipeline & `${string}Check`;
  label: string;
  asks: string;
  needs: ApplicantField[];
}

export const CHECKS: readonly Check[] = [
  {
    id: 'eviction',
    switch: 'EvictionCheck',
    label: 'Eviction',
    asks: 'Has the applicant ever been evicted?',
    needs: ['FirstName', 'LastName', 'DateOfBirth'],
  },
  {
    id: 'income',
    switch: 'IncomeCheck',
    label: 'Income',
    asks: 'What does the applicant earn in a year? Their bank tells.',
    needs: ['OpenBankingToken'],
  },
  {
    id: 'softCredit',
    switch: 'SoftCreditCheck',
    label: 'Credit',
    asks: 'Is the credit score high enough? Asking does not lower it.',
    needs: ['FirstName', 'LastName', 'SSN'],
  },
  {
    id: 'criminalBackground',
    switch: 'CriminalBackgroundCheck',
    label: 'Criminal background',
    asks: 'Is there a criminal record?',
    needs: ['FirstName', 'LastName', 'DateOfBirth'],
  },
];

export function missing(check: Check, applicant: Applicant): ApplicantField[] {
  return check.needs.filter((field) => applicant[field].trim() === '');
}

/** Replaces check ids in a message of the service with their labels. */
export function inWords(text: string): string {
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

export const HINTS: readonly { label: string; finds: string; applicant: Applicant }[] = [
  { label: 'Good applicant', finds: 'score 720, income 85,000, nothing on file', applicant: GOOD },
  { label: 'Low score', finds: 'score 540', applicant: { ...GOOD, SSN: '900-00-0540' } },
  { label: 'Evicted', finds: 'an eviction on file', applicant: { ...GOOD, LastName: 'Evicted' } },
  { label: 'Criminal record', finds: 'a record on file', applicant: { ...GOOD, LastName: 'Record' } },
  { label: 'Bureau down', finds: 'a bureau that fails', applicant: { ...GOOD, LastName: 'Down' } },
  { label: 'Bureau silent', finds: 'a bureau that never answers', applicant: { ...GOOD, LastName: 'Timeout' } },
];
