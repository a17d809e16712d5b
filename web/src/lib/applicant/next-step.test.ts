import { expect, test } from 'vitest';
import type { StoredDetails } from '../format/stored';
import { missingChecks, nextStep } from './next-step';
import type { OwnApplication, Search } from './search';

function application(listingId: string, status: string, checks: Record<string, string> = {}): OwnApplication {
  const states = Object.entries(checks).map(([check, status]) => ({ check, status }));
  const whole = { listingId, status, checks: states } as OwnApplication['whole'];
  return { summary: { listingId, status } as OwnApplication['summary'], home: `${listingId} Street`, whole };
}

const search = (applications: OwnApplication[], saved: string[] = []): Search => ({
  applications,
  count: applications.length,
  results: [],
  saved: saved.map((id) => ({ id, street: `${id} Street` }) as StoredDetails),
});

test('each check that open applications miss is listed once, with the homes', () => {
  const [a, b] = [
    application('a', 'submitted', { income: 'expired', eviction: 'passed' }),
    application('b', 'submitted', { income: 'missing', softCredit: 'expired' }),
  ];
  const declined = application('c', 'declined', { eviction: 'missing' });
  expect(missingChecks([a, b, declined])).toEqual([
    { check: 'income', status: 'missing', applications: [a, b] },
    { check: 'softCredit', status: 'expired', applications: [b] },
  ]);
});

test('an approval comes before everything else', () => {
  const approved = application('b', 'conditional');
  const step = nextStep(search([application('a', 'submitted', { income: 'missing' }), approved]));
  expect(step).toEqual({ kind: 'approved', application: approved });
});

test('what only the applicant can do comes before waiting', () => {
  const incomplete = application('b', 'submitted', { income: 'missing', eviction: 'not_passed' });
  const complete = application('a', 'submitted', { income: 'passed' });
  expect(nextStep(search([complete, incomplete]))).toEqual({
    kind: 'verify',
    application: incomplete,
    checks: ['income'],
  });
  expect(nextStep(search([complete], ['z']))).toEqual({ kind: 'wait', count: 1 });
});

test('without an open application, the next one is for a saved home', () => {
  const ended = [application('a', 'withdrawn'), application('b', 'declined')];
  expect(nextStep(search(ended, ['a', 'c']))).toEqual({ kind: 'apply-for-saved', id: 'c', home: 'c Street' });
  expect(nextStep(search(ended, ['a']))).toEqual({ kind: 'find' });
  expect(nextStep(search([]))).toEqual({ kind: 'find' });
});
