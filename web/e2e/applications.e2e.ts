import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { home } from './harness/homes';

const app = useConsole();

async function tokenOf(userId: string) {
  const { token } = await app.post<{ token: string }>('/v1/sandbox/sessions', { userId });
  return { authorization: `Bearer ${token}` };
}

test('somebody who has applied for nothing is told how to begin', async () => {
  const page = await app.open('/applications', { as: 'chloe' });
  await page.getByRole('heading', { name: 'No applications yet' }).waitFor();
  await axe(page);
});

test('applications show their homes and flags, and what to do while nothing is verified', async () => {
  await app.post('/listings', home('oak-12', { userId: 'ada', streetAddress: '12 <i>Oak</i> Street' }));
  await app.post('/applications', { userId: 'ben', listingIds: ['oak-12', 'long-gone'] }, await tokenOf('ben'));
  const page = await app.open('/applications', { as: 'ben' });
  await page.getByText('You applied for 2 homes.').waitFor();
  await page.getByText('No longer listed').waitFor();
  expect(await page.getByText('Minimum income: not met').count()).toBe(2);
  await page.getByText('You are not verified yet').waitFor();
  await axe(page);
  await page.getByRole('link', { name: '12 <i>Oak</i> Street' }).click();
  await page.getByRole('heading', { name: 'Your application' }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'Verify yourself in screening' }).click();
  await page.getByRole('heading', { level: 1, name: 'Screening' }).waitFor();
});

test('after a verification the flags that are met are shown', async () => {
  const terms = { minCredit: 620, prefCredit: 700, minIncome: 50000, prefIncome: 90000 };
  const where = { addressStreet: '7 Elm Street', addressCity: 'Austin', addressState: 'TX', addressPostal: '78701' };
  const listing = { id: 'elm-7', userId: 'ada', ...where, monthlyPayment: 1850, ...terms };
  await app.post('/stage/listings', listing, await app.keyOf('ada'));
  const dev = await tokenOf('dev');
  await app.post('/applications', { userId: 'dev', listingIds: ['elm-7'] }, dev);
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
  await app.post('/verifyRentalRequirements', applicant, dev);
  const page = await app.open('/applications', { as: 'dev', width: 390, height: 844 });
  await page.getByText('Preferred credit: met').waitFor();
  await page.getByText('Minimum income: met').waitFor();
  await page.getByText('Preferred income: not met').waitFor();
  expect(await page.getByText('You are not verified yet').count()).toBe(0);
  await axe(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});
