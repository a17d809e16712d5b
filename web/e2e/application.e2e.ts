// One application, as its applicant sees it.
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { agreeAndApply, applyFor, recordListing, requireChecks, verify } from './harness/applications';

const app = useConsole(async (app) => {
  await requireChecks(app, 'ada', 'ada-homes', { EvictionCheck: true, IncomeCheck: true, SoftCreditCheck: true });
});

test('an applicant sees what is missing, verifies, and meets the flags', async () => {
  await recordListing(app, 'oak-1');
  await applyFor(app, 'kim', 'oak-1');
  const page = await app.open('/applications', { as: 'kim', width: 390, height: 844 });
  await page.getByText('Still to check: eviction, income, and credit.').waitFor();
  await axe(page);
  await page.getByRole('link', { name: 'oak-1 Street' }).click();
  await page.getByText('Your application for this home').waitFor();
  expect(await page.getByText('Not checked', { exact: true }).count()).toBe(3);
  await page.getByText('Minimum credit: not checked').waitFor();
  await page.getByText('Ada Okafor (ada), the landlord').waitFor();
  await page.getByText('whether these checks are passed: eviction, income, and credit').waitFor();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  await axe(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);

  await page.getByRole('link', { name: 'Verify credit' }).click();
  await expect.poll(() => page.getByLabel('Landlord’s client id').inputValue()).toBe('ada-homes');
  await page.getByRole('button', { name: 'Good applicant' }).click();
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('Every check that ran was passed.').waitFor();
  await page.getByRole('link', { name: 'Your applications' }).click();
  await page.getByText('Minimum credit: met').waitFor();
  await page.getByRole('link', { name: 'oak-1 Street' }).click();
  for (const flag of ['Minimum credit: met', 'Preferred credit: met', 'Minimum income: met'])
    await page.getByText(flag).waitFor();
  await page.getByText('Preferred income: not met').waitFor();
  expect(await page.getByText('Passed', { exact: true }).count()).toBe(3);
  expect(await page.getByText(/^Valid until/).count()).toBe(3);
  await page.getByText(/Recorded in block\s+\d/).waitFor();
  await axe(page);
});

test('a withdrawal is confirmed, and one can apply again', async () => {
  await recordListing(app, 'oak-2');
  await verify(app, 'lou', 'oak-2');
  await applyFor(app, 'lou', 'oak-2');
  const page = await app.open('/applications', { as: 'lou' });
  await page.getByRole('link', { name: 'oak-2 Street' }).click();
  await page.getByRole('button', { name: 'Stop sharing…' }).click();
  await page.getByRole('dialog', { name: 'Stop sharing with this landlord?' }).waitFor();
  await page.getByText('This withdraws your application.').waitFor();
  await axe(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Submitted', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Stop sharing…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop sharing', exact: true }).click();
  await page.getByText('The landlord no longer sees your checks and terms.', { exact: true }).waitFor();
  await page
    .getByText('Nothing any more. Ada Okafor no longer sees your checks and terms, because you withdrew.')
    .waitFor();
  expect(await page.getByRole('button', { name: 'Stop sharing…' }).count()).toBe(0);
  await axe(page);

  await page.getByRole('link', { name: 'See the listing' }).click();
  await page.getByRole('button', { name: 'Apply for this home' }).click();
  await agreeAndApply(page);
  await page.getByRole('link', { name: 'All your applications' }).click();
  await page.getByText('You applied for 1 home.').waitFor();
  await page.getByRole('link', { name: 'oak-2 Street' }).nth(1).waitFor();
  expect(await page.getByRole('link', { name: 'oak-2 Street' }).count()).toBe(2);
  // The older one is no longer readable as a whole.
  await page.getByRole('link', { name: 'oak-2 Street' }).last().click();
  await page
    .getByText('Nothing any more: this application has ended, and its record on the chain is cleared.')
    .waitFor();
  await axe(page);
});

test('the sharing ends after a decision, which stays', async () => {
  await recordListing(app, 'oak-3');
  await applyFor(app, 'max', 'oak-3');
  const page = await app.open('/applications', { as: 'max' });
  await page.getByRole('link', { name: 'oak-3 Street' }).click();
  await page.getByRole('button', { name: 'Stop sharing…' }).click();
  const decided = '/v1/applications/max/oak-3/decision';
  await app.post(decided, { decision: 'approved' }, await app.tokenHeaders('ada'));
  await page.getByRole('dialog').getByRole('button', { name: 'Stop sharing', exact: true }).click();
  await page.getByText(/^Approved on/).waitFor();
  await page.getByText('because you stopped sharing. The decision stays').waitFor();
  expect(await page.getByRole('button', { name: 'Stop sharing…' }).count()).toBe(0);
  await axe(page);
  const landlord = await app.open('/my-listings/oak-3', { as: 'ada' });
  await landlord.getByText('Nothing is shared with you any more.').waitFor();
});

test('a complete report changes only when the applicant shares new results', async () => {
  await recordListing(app, 'oak-6');
  await verify(app, 'ray', 'oak-6');
  await applyFor(app, 'ray', 'oak-6');
  await verify(app, 'ray', 'oak-6-again', { OpenBankingToken: 'income-95000' });
  const page = await app.open('/applications', { as: 'ray' });
  await page.getByRole('link', { name: 'oak-6 Street' }).click();
  await page.getByRole('heading', { name: 'The report that you share' }).waitFor();
  expect(await page.getByText(/^Reported on .* valid until/).count()).toBe(3);
  await page.getByText('Preferred income: not met').waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Share my new results' }).click();
  await page.getByText('The landlord now sees your new results.').waitFor();
  await page.getByText('Preferred income: met').waitFor();
});

test('results about somebody else are not shared instead', async () => {
  await recordListing(app, 'oak-7');
  await verify(app, 'sam', 'oak-7');
  await applyFor(app, 'sam', 'oak-7');
  await verify(app, 'sam', 'oak-7-other', { LastName: 'Other' });
  const page = await app.open('/applications', { as: 'sam' });
  page.monitor.allow(/409/);
  await page.getByRole('link', { name: 'oak-7 Street' }).click();
  await page.getByRole('button', { name: 'Share my new results' }).click();
  await page.getByText('Your new results are about another name').waitFor();
});

test('an application to a listing that was taken down is closed', async () => {
  await recordListing(app, 'oak-4');
  await applyFor(app, 'nan', 'oak-4');
  await fetch(`${app.url}/listings/oak-4`, { method: 'DELETE' });
  const page = await app.open('/applications', { as: 'nan' });
  await page.getByText('No longer listed').waitFor();
  await page.getByRole('link', { name: 'oak-4' }).click();
  await page.getByText('Closed', { exact: true }).waitFor();
  await page.getByText('Nothing any more').waitFor();
  await axe(page);
});

test('an unknown application says so', async () => {
  const page = await app.open('/applications/nothing', { as: 'nan' });
  await page.getByRole('heading', { name: 'You have no such application' }).waitFor();
  await axe(page);
});

// Last: it moves the clock of the server.
test('expired findings say so, and offer a new verification', async () => {
  await recordListing(app, 'oak-5');
  await verify(app, 'pat', 'oak-5');
  await applyFor(app, 'pat', 'oak-5');
  await app.post('/v1/sandbox/clock', { advanceSeconds: 31 * 86_400 });
  const page = await app.open('/applications', { as: 'pat' });
  await page.getByRole('link', { name: 'oak-5 Street' }).click();
  // The list says the same of the flags: the checks are on the application's own page.
  await page.getByRole('heading', { name: 'Checks' }).waitFor();
  await page.getByText('Preferred credit: expired').waitFor();
  expect(await page.getByText('Expired', { exact: true }).count()).toBe(3);
  await page.getByRole('link', { name: 'Verify income' }).waitFor();
  await page.getByText('Verify yourself again, then share your new results below.').waitFor();
  await axe(page);
  // A complete report does not take new results by itself.
  await verify(app, 'pat', 'oak-5-again');
  await page.reload();
  await page.getByText('Preferred credit: expired').waitFor();
  await page.getByRole('button', { name: 'Share my new results' }).click();
  await page.getByText('Preferred credit: met').waitFor();
});
