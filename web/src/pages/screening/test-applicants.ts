// The test applicants that the sandbox's bureaus know.
import { number } from '$lib/format';
import { m } from '$lib/i18n';
import type { Applicant } from './checks';

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
  {
    label: m.screening_test_good(),
    description: m.screening_test_good_text({ score: number(720), income: number(85_000) }),
    applicant: GOOD,
  },
  {
    label: m.screening_test_low(),
    description: m.screening_test_low_text({ score: number(540) }),
    applicant: { ...GOOD, SSN: '900-00-0540' },
  },
  {
    label: m.screening_test_evicted(),
    description: m.screening_test_evicted_text(),
    applicant: { ...GOOD, LastName: 'Evicted' },
  },
  {
    label: m.screening_test_record(),
    description: m.screening_test_record_text(),
    applicant: { ...GOOD, LastName: 'Record' },
  },
  {
    label: m.screening_test_down(),
    description: m.screening_test_down_text(),
    applicant: { ...GOOD, LastName: 'Down' },
  },
  {
    label: m.screening_test_timeout(),
    description: m.screening_test_timeout_text(),
    applicant: { ...GOOD, LastName: 'Timeout' },
  },
];
