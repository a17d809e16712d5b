import { expect, test } from 'vitest';
import { routes } from '../../routes';
import { byNeed, FIRST_PAGES, isRole, roleOf, ROLES } from './roles';

const NOTHING = { isOperator: false, hasListings: false, isApplicant: false, hasInvestments: false };

test('the role follows from what the user has', () => {
  expect(roleOf(NOTHING)).toBe('newcomer');
  expect(roleOf({ ...NOTHING, hasInvestments: true })).toBe('investor');
  expect(roleOf({ ...NOTHING, hasInvestments: true, isApplicant: true })).toBe('applicant');
  expect(roleOf({ ...NOTHING, hasListings: true, isApplicant: true })).toBe('landlord');
  expect(roleOf({ isOperator: true, hasListings: true, isApplicant: true, hasInvestments: true })).toBe('operator');
});

test('what the role needs comes first, and nothing is lost', () => {
  const pages = ['/listings', '/saved', '/api', '/chain'];
  const own = (page: string) => [page];
  expect(byNeed(pages, 'developer', own)).toEqual(['/api', '/chain', '/listings', '/saved']);
  expect(byNeed(pages, 'applicant', own)).toEqual(['/listings', '/saved', '/api', '/chain']);
  expect(byNeed(pages, undefined, own)).toEqual(pages);
  expect(byNeed([['/saved'], ['/chain', '/api'], []], 'developer', (group) => group)).toEqual([
    ['/chain', '/api'],
    ['/saved'],
    [],
  ]);
});

test('the pages of every role are in the navigation', () => {
  const paths = routes.filter(({ nav }) => nav).map(({ path }) => path);
  for (const role of ROLES) expect(FIRST_PAGES[role].filter((page) => !paths.includes(page))).toEqual([]);
});

test('stored text is a role or not', () => {
  expect(isRole('landlord')).toBe(true);
  for (const text of ['', 'constructor', null, undefined]) expect(isRole(text)).toBe(false);
});
