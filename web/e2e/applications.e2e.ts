import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { newListing } from './harness/listings';

const app = useConsole();

test('without applications the page explains how to start', async () => {
  const page = await app.open('/applications', { as: 'chloe' });
  await page.getByRole('heading', { name: 'No applications yet' }).waitFor();
  await axe(page);
});

test('applications show listings, flags and what to do next', async () => {
  await app.post('/listings', newListing('oak-12', { userId: 'ada', streetAddress: '12 <i>Oak</i> Street' }));
  await app.post('/listings', newListing('elm-3', { userId: 'ada', streetAddress: '3 Elm Street' }));
  await app.post('/applications', { userId: 'ben', listingIds: ['oak-12', 'elm-3'] }, await app.tokenHeaders('ben'));
  const page = await app.open('/applications', { as: 'ben' });
  await page.getByText('You applied for 2 homes.').waitFor();
  await page.getByRole('link', { name: '12 <i>Oak</i> Street' }).waitFor();
  expect(await page.getByText('The listing asks for no score and no income.').count()).toBe(2);
  // Nothing is recorded before a verification.
  expect(await page.getByText('Recorded in block').count()).toBe(0);
  await page.getByText('You are not verified yet').waitFor();
  await axe(page);
  await page.getByRole('link', { name: '12 <i>Oak</i> Street' }).click();
  await page.getByText('Your application for this home').waitFor();
  await page.goBack();
  await page.getByText('You applied for 2 homes.').waitFor();
  // Deleting a listing closes its applications. Delete it while no page is polling.
  await page.goto(`${app.url}/console/saved`);
  await page.locator('h1').waitFor();
  await fetch(`${app.url}/listings/elm-3`, { method: 'DELETE' });
  await page.goto(`${app.url}/console/applications`);
  await page.getByText('Closed', { exact: true }).waitFor();
  await page.getByText('No longer listed').waitFor();
  expect(await page.getByText('3 Elm Street').count()).toBe(0);
  await page.getByRole('link', { name: 'Verify yourself' }).click();
  await page.getByRole('heading', { level: 1, name: 'Screening' }).waitFor();
});

/** Dev applies for one of Ada's listings and is verified. */
async function verify(id: string) {
  const terms = { minCredit: 620, prefCredit: 700, minIncome: 50000, prefIncome: 90000 };
  const where = { addressStreet: '7 Elm Street', addressCity: 'Austin', addressState: 'TX', addressPostal: '78701' };
  const listing = { id, userId: 'ada', ...where, monthlyPayment: 1850, ...terms };
  await app.post('/stage/listings', listing, await app.keyHeaders('ada'));
  const dev = await app.tokenHeaders('dev');
  await app.post('/applications', { userId: 'dev', listingIds: [id] }, dev);
  const applicant = {
    FirstName: 'Dev',
    LastName: 'Raman',
    DateOfBirth: '1990-04-01',
    SSN: '900-00-0720',
    StreetAddress: '1 Elm',
    City: 'Austin',
    State: 'TX',
    PostalCode: '78701',
    Email: 'dev@example.com',
    OpenBankingSubscriptionId: 'sub-1',
    OpenBankingToken: 'income-85000',
  };
  await app.post(`/verifyRentalRequirements?caseId=${id}`, applicant, dev);
}

/** Opens the transaction of the flags, then its block. */
async function follow(page: Page) {
  const block = await page.getByText('Recorded in block').first().getByRole('link').textContent();
  const link = page
    .getByText(/^Transaction/)
    .getByRole('link')
    .first();
  const hash = (await link.getAttribute('title')) ?? '';
  expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
  await link.click();
  await page.getByRole('heading', { level: 1, name: 'Transaction' }).waitFor();
  await page.getByText('Mined', { exact: true }).waitFor();
  await page.getByText(hash, { exact: true }).waitFor();
  await page.getByText('Application checks').first().waitFor();
  await page.getByRole('link', { name: block ?? '', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: `Block ${block}` }).waitFor();
}

test('after a verification the flags show with their transaction', async () => {
  await verify('elm-7');
  const page = await app.open('/applications', { as: 'dev', width: 390, height: 844 });
  await page.getByText('Preferred credit: met').waitFor();
  await page.getByText('Minimum income: met').waitFor();
  await page.getByText('Preferred income: not met').waitFor();
  expect(await page.getByText('You are not verified yet').count()).toBe(0);
  await axe(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  expect(await page.getByRole('button', { name: 'Copy contract of the flags' }).count()).toBe(1);
  await follow(page);
});

test('an applicant sees the flags on the listing, and when they applied', async () => {
  await verify('elm-8');
  const page = await app.open('/listings/elm-8', { as: 'dev' });
  await page.getByRole('heading', { name: 'Your application' }).waitFor();
  await page.getByText(/^You applied (now|.* ago)/).waitFor();
  await page.getByText('Minimum income: met').waitFor();
  await follow(page);
});

test('pending flags update when they are mined', async () => {
  await verify('elm-9');
  const page = await app.open('/', { as: 'dev' });
  let mined = false;
  await page.route('**/v1/applications/dev/elm-9/records', async (route) => {
    const answer = await route.fetch();
    const [found] = await answer.json();
    await route.fulfill({ json: [mined ? found : { ...found, status: 'pending', blockNumber: undefined }] });
  });
  await page.goto(`${app.url}/console/applications`);
  await page.getByText('The flags wait for a block.').waitFor();
  await axe(page);
  mined = true;
  await page.getByText('The flags wait for a block.').waitFor({ state: 'detached' });
  expect(await page.getByText('Refused', { exact: true }).count()).toBe(0);
});

test('the application date follows the language', async () => {
  await app.post('/listings', newListing('ash-1', { userId: 'ada' }));
  await app.post('/applications', { userId: 'erik', listingIds: ['ash-1'] }, await app.tokenHeaders('erik'));
  const page = await app.open('/applications', { as: 'erik', locale: 'es-MX' });
  const when = page.locator('time');
  const at = (await when.getAttribute('datetime')) ?? '';
  const mexican = new Intl.DateTimeFormat('es-MX', { dateStyle: 'medium', timeStyle: 'short' });
  expect(await when.textContent()).toBe(mexican.format(new Date(at)));
});
