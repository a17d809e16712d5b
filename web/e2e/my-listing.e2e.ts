// The landlord's page of a listing: applicants, decisions, and edits.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { applyFor, recordListing, requireChecks, verify } from './harness/applications';
import { newListing } from './harness/listings';

const app = useConsole(async (app) => {
  await requireChecks(app, 'ada', 'ada-homes', { EvictionCheck: true, IncomeCheck: true, SoftCreditCheck: true });
});

const row = (page: Page, name: string) => page.getByRole('article', { name: `Application of ${name}` });

async function openApplicants(id: string, options: object = {}) {
  const page = await app.open(`/my-listings/${id}`, { as: 'ada', ...options });
  await page.getByRole('heading', { name: 'Applicants' }).waitFor();
  return page;
}

test('a landlord declines with a reason, and the applicant reads the notice', async () => {
  await recordListing(app, 'oak-1');
  await verify(app, 'eve', 'oak-1', { LastName: 'Evicted' });
  for (const userId of ['eve', 'newt']) await applyFor(app, userId, 'oak-1');
  const page = await openApplicants('oak-1');
  const eve = row(page, 'eve');
  for (const text of ['Submitted', 'Eviction: Not passed', 'Income: Passed', 'Credit: Passed'])
    await eve.getByText(text, { exact: true }).waitFor();
  await eve.getByText('Preferred credit: met').waitFor();
  await eve.getByText('Preferred income: not met').waitFor();
  // Nobody has checked anything about the other one.
  const newt = row(page, 'newt');
  await newt.getByText('Eviction: Not checked').waitFor();
  expect(await newt.getByText(/(credit|income): not checked/).count()).toBe(4);
  // Screen readers hear the four words, and nothing of them looks like a failure.
  const items = await newt.getByRole('list', { name: 'Terms of the listing' }).getByRole('listitem').all();
  expect(await Promise.all(items.map((item) => item.textContent()))).toEqual([
    'Minimum credit: not checked',
    'Preferred credit: not checked',
    'Minimum income: not checked',
    'Preferred income: not checked',
  ]);
  expect(await newt.locator('.tone-bad, .lucide-minus, .lucide-x').count()).toBe(0);
  await axe(page);

  // A decline of the other one can name no check, and has to say so.
  await newt.getByRole('button', { name: 'Decline: newt' }).click();
  await page.getByText('No check of this applicant is valid now').waitFor();
  expect(await page.getByRole('radio', { name: 'Checks of the report' }).isDisabled()).toBe(true);
  await page.getByRole('dialog').getByRole('button', { name: 'Decline', exact: true }).click();
  await page.getByRole('alert').getByText('Choose what the decision is based on.').waitFor();
  await axe(page);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  await eve.getByRole('button', { name: 'Decline: eve' }).click();
  const dialog = page.getByRole('dialog', { name: 'Decline: eve' });
  await dialog.getByText('FCRA, 15 U.S.C. 1681m').waitFor();
  await dialog.getByRole('radio', { name: 'Checks of the report' }).check();
  await dialog.getByRole('button', { name: 'Decline', exact: true }).click();
  await dialog.getByText('Choose at least one check.').waitFor();
  await dialog.getByRole('checkbox', { name: 'Eviction: Not passed' }).check();
  await dialog.getByRole('checkbox', { name: 'Credit: Passed' }).check();
  await dialog.getByLabel('Note to the applicant').fill('Thank you\nfor <b>applying</b>');
  await axe(page);
  await dialog.getByRole('button', { name: 'Decline', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  await eve.getByText('Declined', { exact: true }).first().waitFor();
  await eve.getByText('because of these checks: eviction and credit').waitFor();
  await eve.getByText('“Thank you for <b>applying</b>”').waitFor();
  await eve.getByText('The applicant was given a notice about eviction and credit on').waitFor();
  expect(
    await eve
      .getByRole('button')
      .filter({ hasText: /Approve|Decline/ })
      .count(),
  ).toBe(0);
  await axe(page);

  const applicant = await app.open('/applications', { as: 'eve' });
  await applicant.getByRole('link', { name: 'oak-1 Street' }).click();
  await applicant.getByRole('heading', { name: 'Notice of adverse action' }).waitFor();
  const credit = applicant.getByRole('region', { name: 'Credit report' });
  await credit.getByText('Address: ').waitFor();
  await credit.getByText('Telephone: ').waitFor();
  await credit.getByText('Credit score: 720').waitFor();
  await credit.getByText(/on a scale from 300 to 850|did not say|said neither/).waitFor();
  await applicant.getByRole('region', { name: 'Eviction report' }).waitFor();
  await applicant.getByText('They did not make the decision').waitFor();
  await applicant.getByText('free copy of its report within 60 days').waitFor();
  await applicant.getByText('You may dispute with each bureau').waitFor();
  await applicant.getByText('“Thank you for <b>applying</b>”').waitFor();
  await axe(applicant);
  // Printed, the page is the decision and the notice alone.
  await applicant.evaluate(() => {
    (window as never as { prints: number }).prints = 0;
    window.print = () => void (window as never as { prints: number }).prints++;
  });
  await applicant.getByRole('button', { name: 'Print' }).click();
  expect(await applicant.evaluate(() => (window as never as { prints: number }).prints)).toBe(1);
  await applicant.emulateMedia({ media: 'print' });
  expect(await applicant.getByRole('navigation', { name: 'Main' }).isVisible()).toBe(false);
  expect(await applicant.getByRole('heading', { name: 'Timeline' }).isVisible()).toBe(false);
  expect(await credit.isVisible()).toBe(true);
});

test('a landlord approves, with and without conditions', async () => {
  await recordListing(app, 'oak-2');
  for (const userId of ['fay', 'gus']) {
    await verify(app, userId, `oak-2-${userId}`);
    await applyFor(app, userId, 'oak-2');
  }
  const page = await openApplicants('oak-2', { width: 390, height: 844 });
  await row(page, 'fay').getByRole('button', { name: 'Approve: fay' }).click();
  const approval = page.getByRole('dialog', { name: 'Approve: fay' });
  await approval.waitFor();
  expect(await approval.getByRole('radio').count()).toBe(0);
  await approval.getByRole('button', { name: 'Approve', exact: true }).click();
  await row(page, 'fay')
    .getByText(/^Approved on/)
    .waitFor();
  await row(page, 'gus').getByRole('button', { name: 'Approve with conditions: gus' }).click();
  const conditional = page.getByRole('dialog');
  await conditional.getByRole('radio', { name: /^No report/ }).check();
  await conditional.getByLabel('Note to the applicant').fill('A deposit of two rents');
  await conditional.getByRole('button', { name: 'Approve with conditions' }).click();
  await row(page, 'gus').getByText('“A deposit of two rents”').waitFor();
  await row(page, 'gus').getByText('based on no report').waitFor();
  // Without a named check there is no notice.
  expect(await row(page, 'gus').getByText('was given a notice').count()).toBe(0);
  await axe(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test('a landlord checks the name of an applicant, who sees it', async () => {
  await recordListing(app, 'oak-5');
  await verify(app, 'jo', 'oak-5', { FirstName: 'Josephine' });
  await applyFor(app, 'jo', 'oak-5');
  const page = await openApplicants('oak-5');
  await row(page, 'jo').getByRole('button', { name: 'Check the name: jo' }).click();
  const dialog = page.getByRole('dialog', { name: 'Check the name' });
  await dialog.getByRole('button', { name: 'Check the name' }).click();
  await dialog.getByText('Enter the first name.').waitFor();
  await dialog.getByLabel('First name').fill('Josephina');
  await dialog.getByLabel('Last name').fill('Tenant');
  await dialog.getByRole('button', { name: 'Check the name' }).click();
  await dialog.getByText('The report is not about somebody of this name.').waitFor();
  await dialog.getByLabel('First name').fill('Josephine');
  await dialog.getByRole('button', { name: 'Check the name' }).click();
  await dialog.getByText('The report is about somebody of this name.').waitFor();
  await axe(page);

  const applicant = await app.open('/applications', { as: 'jo' });
  await applicant.getByRole('link', { name: 'oak-5 Street' }).click();
  const asked = applicant.getByRole('region', { name: 'The landlord asked whether your report' });
  await asked.getByText('it is about somebody else').waitFor();
  await asked.getByText('it is about somebody of that name').waitFor();
  await axe(applicant);
});

test('a decision about a withdrawn application is explained', async () => {
  await recordListing(app, 'oak-3');
  await applyFor(app, 'hal', 'oak-3');
  const page = await openApplicants('oak-3');
  page.monitor.allow(/409|412/);
  await row(page, 'hal').getByRole('button', { name: 'Approve: hal' }).click();
  const headers = await app.tokenHeaders('hal');
  await fetch(`${app.url}/v1/applications/hal/oak-3`, { method: 'DELETE', headers });
  await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click();
  await row(page, 'hal')
    .getByText(/changed since you opened it|has withdrawn this application/)
    .waitFor();
  await row(page, 'hal').getByText('Withdrawn', { exact: true }).waitFor();
  await row(page, 'hal').getByText('Nothing is shared with you any more.').waitFor();
  await axe(page);
});

test('a dispute of the applicant is seen by the landlord', async () => {
  await recordListing(app, 'oak-4');
  await verify(app, 'ivy', 'oak-4', { LastName: 'Evicted' });
  await applyFor(app, 'ivy', 'oak-4');
  const page = await app.open('/applications', { as: 'ivy' });
  await page.getByRole('link', { name: 'oak-4 Street' }).click();
  await page.getByRole('button', { name: 'Dispute eviction…' }).click();
  await page.getByRole('dialog', { name: 'Dispute the eviction finding?' }).waitFor();
  await axe(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Dispute', exact: true }).click();
  await page.getByText('The landlord now sees that you dispute').waitFor();
  await page.getByText('Disputed', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Dispute eviction…' }).count()).toBe(0);
  const landlord = await openApplicants('oak-4');
  await row(landlord, 'ivy').getByText('Eviction: Disputed').waitFor();
});

test('somebody else’s listing is not shown', async () => {
  await app.post('/listings', newListing('foreign', { userId: 'ben' }));
  const page = await app.open('/my-listings/foreign', { as: 'ada' });
  await page.getByRole('heading', { name: 'You do not offer this home' }).waitFor();
  await axe(page);
});

test('a listing is edited, and the public page and the history show it', async () => {
  await recordListing(app, 'elm-1');
  const page = await openApplicants('elm-1');
  await page.getByRole('heading', { name: 'Nobody has applied yet' }).waitFor();
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByRole('heading', { level: 1, name: 'Edit the listing' }).waitFor();
  expect(await page.getByLabel('Street').inputValue()).toBe('elm-1 Street');
  expect(await page.getByLabel('Minimum credit').inputValue()).toBe('620');
  const save = page.getByRole('button', { name: 'Save changes' });
  expect(await save.isDisabled()).toBe(true);
  await page.getByLabel('Description').fill('Two bright rooms,\nclose to the park');
  await page.getByLabel('Monthly rent').fill('1,900.50');
  await page.getByLabel('Bathrooms').fill('2');
  await page.getByLabel('Available from').fill('2027-03-01');
  await page.getByLabel('Minimum income').fill('');
  await page.getByLabel('Latitude').fill('30.25');
  await axe(page);
  await save.click();
  await page.getByText('Enter both latitude and longitude, or neither.').waitFor();
  await page.getByLabel('Longitude').fill('-97.75');
  await save.click();
  const review = page.getByRole('dialog', { name: 'Save and record these changes?' });
  await review.getByText('$1,850.00 → $1,900.50').waitFor();
  await review.getByText('$50,000.00 → none').waitFor();
  await axe(page);
  await review.getByRole('button', { name: 'Save and record' }).click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  await page.getByText('Monthly rent: $1,850 → $1,900.50').waitFor();
  await page.getByText('Minimum income: $50,000 → none').waitFor();
  await axe(page);
  await page.getByRole('link', { name: 'See the listing' }).click();
  await page.getByText('Two bright rooms, close to the park', { exact: true }).waitFor();
  await page.getByText('Mar 1, 2027', { exact: true }).waitFor();
  await page.getByText('Monthly rent: from $1,850 to $1,900.50').waitFor();
  await axe(page);
});

test('errors of an edit appear at their fields, all at once', async () => {
  await recordListing(app, 'elm-2');
  const page = await app.open('/my-listings/elm-2/edit', { as: 'ada', width: 390, height: 844 });
  await page.getByLabel('Street').fill(' ');
  await page.getByLabel('State').fill('ZZ');
  await page.getByLabel('Preferred credit').fill('100');
  await page.getByLabel('Link to a video').fill('javascript:alert(1)');
  await page.getByLabel('Bedrooms').fill('two');
  await page.getByLabel('Bathrooms').fill('1.5');
  await page.getByRole('button', { name: 'Save changes' }).click();
  const invalidField = (label: string) => page.getByLabel(label).and(page.locator('[aria-invalid=true]'));
  for (const label of ['Street', 'State', 'Preferred credit', 'Link to a video', 'Bedrooms', 'Bathrooms'])
    await invalidField(label).waitFor();
  await page.getByText('Enter a link that begins with https:// or http://.').waitFor();
  await page.getByText('Preferred credit must be at least the minimum.').waitFor();
  await axe(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test('an edit of a version that somebody changed meanwhile is not lost', async () => {
  await recordListing(app, 'elm-3');
  const page = await app.open('/my-listings/elm-3/edit', { as: 'ada' });
  page.monitor.allow(/412/);
  await page.getByLabel('Monthly rent').fill('2000');
  const response = await fetch(`${app.url}/v1/listings/elm-3`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', ...(await app.tokenHeaders('ada')) },
    body: JSON.stringify({ monthlyRent: 1700, description: 'From another tab' }),
  });
  expect(response.status).toBe(200);
  const record = async () => {
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save and record' }).click();
  };
  await record();
  await page.getByText('Somebody changed this listing meanwhile').waitFor();
  // A field that is half under the top bar would count as too small.
  await page.evaluate(() => window.scrollTo(0, 0));
  await axe(page);
  await page.getByRole('button', { name: 'Load it and keep my changes' }).click();
  await expect.poll(() => page.getByLabel('Description').inputValue()).toBe('From another tab');
  expect(await page.getByLabel('Monthly rent').inputValue()).toBe('2000');
  await record();
  await page.getByText('Monthly rent: $1,700 → $2,000').waitFor();
});

test('a paused listing cannot be applied to', async () => {
  await recordListing(app, 'elm-4');
  const page = await app.open('/my-listings/elm-4/edit', { as: 'ada' });
  await page.getByRole('combobox', { name: 'Status' }).click();
  await page.getByRole('option', { name: 'Paused' }).click();
  await page.getByText('Nobody can apply while the home is paused.').waitFor();
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save and record' }).click();
  await page.getByText('Status: Active → Paused').waitFor();
  const applicant = await app.open('/listings/elm-4', { as: 'jon' });
  await applicant.getByText('The landlord has paused this listing. Nobody can apply for it now.').waitFor();
  expect(await applicant.getByRole('button', { name: 'Apply for this home' }).isDisabled()).toBe(true);
  await applicant.getByText('Paused', { exact: true }).first().waitFor();
  await axe(applicant);
});
