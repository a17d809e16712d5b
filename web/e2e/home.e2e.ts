// The home pages by role: whose one sees, the switcher, and what landlords and applicants find there.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { applyFor, recordListing, requireChecks, verify } from './harness/applications';
import { newListing } from './harness/listings';

const HOSTILE = '<img src=x onerror="document.title=1"> ' + 'x'.repeat(200);

const app = useConsole(async (app) => {
  await requireChecks(app, 'ada', 'ada-homes', { EvictionCheck: true, IncomeCheck: true });
  await recordListing(app, 'oak-1');
  await recordListing(app, 'oak-2');
  await app.post('/listings', newListing('evil', { userId: 'ada', streetAddress: HOSTILE }));
  await verify(app, 'ben', 'case-1');
  await applyFor(app, 'ben', 'oak-1');
  await applyFor(app, 'mia', 'oak-1');
  await applyFor(app, 'mia', 'oak-2');
  await app.post('/stage/savedListings', { userId: 'zoe', listingId: 'oak-2' }, await app.keyHeaders('zoe'));
});

const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
const card = (page: Page, name: string) =>
  page.locator('main section').filter({ has: page.getByRole('heading', { name, exact: true }) });
const width = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth);

test('who has nothing sees where to begin, and a landlord the homes', async () => {
  const page = await app.open('/', { as: 'nobody-yet' });
  await title(page, 'Welcome to Portico');
  await page
    .getByRole('main')
    .getByRole('link', { name: /^List a home/ })
    .waitFor();
  await axe(page);
  await page.close();

  const landlord = await app.open('/', { as: 'ada' });
  await title(landlord, 'Your homes');
});

test('a landlord sees waiting decisions and news, and goes to decide', async () => {
  const page = await app.open('/', { as: 'ada' });
  const decisions = card(page, 'Decisions waiting');
  await decisions.getByRole('link', { name: 'Ben Castillo, oak-1 Street' }).waitFor();
  expect(await decisions.getByRole('listitem').count()).toBe(1);
  const undecided = card(page, 'Applicants without a decision');
  expect(await undecided.getByRole('listitem').count()).toBe(3);
  await undecided
    .getByText(/^Missing: eviction, income/)
    .first()
    .waitFor();
  await page.getByText('3 active, 0 paused').waitFor();
  await card(page, 'What is new').getByText('Ben Castillo applied').waitFor();
  await axe(page);
  await decisions.getByRole('link', { name: /Ben Castillo/ }).click();
  await page
    .getByRole('article', { name: 'Application of Ben Castillo' })
    .getByRole('button', { name: /^Approve:/ })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText(/^Approved on/).waitFor();
  await page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name: 'Home' }).click();
  await page.getByText('No application waits for your decision.').waitFor();
});

test('an applicant sees the next step, what is missing and for which home', async () => {
  const page = await app.open('/', { as: 'mia' });
  await title(page, 'Your search for a home');
  await page.getByText(/^Verify yourself, so that your application for oak-. Street is complete/).waitFor();
  const missing = card(page, 'What is missing');
  expect(await missing.getByRole('listitem').count()).toBe(3);
  const income = missing.getByRole('listitem').filter({ hasText: 'Income' });
  await income.getByText('Not checked').waitFor();
  expect(await income.getByRole('link').count()).toBe(2);
  await card(page, 'Your applications').getByText('Submitted').first().waitFor();
  await page.getByText('You have not saved a home yet.').waitFor();
  await axe(page);

  await verify(app, 'mia', 'case-2');
  await page.reload();
  await page.getByText('Your 2 applications are complete. The landlords decide next.').waitFor();
  await card(page, 'Your checks').getByText('Passed').first().waitFor();

  const saver = await app.open('/', { as: 'zoe' });
  await saver.getByText('You saved oak-2 Street and have not applied yet.').waitFor();
  await saver.getByText('Nothing about you is checked yet.').waitFor();
  await saver.getByRole('link', { name: 'See the home' }).click();
  await title(saver, 'oak-2 Street');
});

test('the switcher shows another role, and is remembered for the user', async () => {
  const page = await app.open('/', { as: 'ada' });
  const nav = page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link');
  await title(page, 'Your homes');
  expect((await nav.allTextContents()).slice(0, 2).map((text) => text.trim())).toEqual(['Home', 'My listings']);
  await page.getByLabel('Show the home page of:').selectOption('Developer');
  await title(page, 'Build with Portico');
  expect((await nav.allTextContents()).slice(0, 2).map((text) => text.trim())).toEqual(['Home', 'API']);
  await axe(page);
  await page.reload();
  await title(page, 'Build with Portico');
  // It is the choice of one user, not of the browser.
  await page.getByRole('button', { name: /^Acting as/ }).click();
  await page.getByRole('menuitem', { name: /Ben Castillo/ }).click();
  await title(page, 'Your search for a home');
  for (const [role, heading] of [
    ['Investor', 'Your networks'],
    ['Operator', 'This service'],
    ['Landlord', 'Your homes'],
    ['Newcomer', 'Welcome to Portico'],
  ] as const) {
    await page.getByLabel('Show the home page of:').selectOption(role);
    await title(page, heading);
  }
});

test('a phone has the pages of the role in its bar', async () => {
  const page = await app.open('/', { as: 'mia', width: 320, height: 640 });
  await title(page, 'Your search for a home');
  const bar = page.getByRole('navigation', { name: 'Main pages' });
  await bar.getByRole('link', { name: 'Applications' }).waitFor();
  expect((await bar.getByRole('link').allTextContents()).map((text) => text.trim())).toEqual([
    'Home',
    'Listings',
    'Saved',
    'Applications',
  ]);
});

test.each(['en-US', 'es-MX'])('the home pages fit and are accessible in %s', async (locale) => {
  for (const [as, wide] of [
    ['ada', 320],
    ['ada', 1440],
    ['mia', 320],
    ['mia', 1440],
  ] as const) {
    const page = await app.open('/', { as, locale, width: wide });
    await page.locator('main li').first().waitFor();
    await page.waitForLoadState('networkidle');
    expect(await width(page)).toBeLessThanOrEqual(wide);
    await axe(page);
  }
});
