// The whole tour of a new user: from an empty sandbox to a listing on the chain, an application with its four flags, a
// portfolio and a device. It only clicks what is on the screen and never types a URL.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { agreeAndApply } from './harness/applications';

const app = useConsole();

async function actAs(page: Page, name: string) {
  await page.getByRole('button', { name: /^Acting as/ }).click();
  await page.getByRole('menuitem', { name }).click();
  await page.getByRole('button', { name: `Acting as ${name}` }).waitFor();
}

const openPage = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name, exact: true }).click();

test('a new user completes the whole tour', { timeout: 180_000 }, async () => {
  const page = await app.open('/');
  const main = page.getByRole('main');

  // A landlord creates a listing.
  await main.getByRole('link', { name: /^List a home/ }).click();
  const fields = {
    Street: '12 Oak Street',
    City: 'Austin',
    State: 'TX',
    'Postal code': '78701',
    'Monthly rent': '1850',
    'Minimum credit': '620',
    'Preferred credit': '700',
    'Minimum income': '50000',
    'Preferred income': '90000',
  };
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label).fill(text);
  await page.getByRole('application', { name: 'Place of the home' }).click({ position: { x: 200, y: 150 } });
  await page.getByRole('button', { name: 'List this home' }).click();
  await page.getByRole('dialog').getByText('$1,850.00 a month').waitFor();
  await page.getByRole('button', { name: 'Record it' }).click();
  await page.getByText(/Mined in block/).waitFor();
  await page.getByText('To see it from the other side').waitFor();
  await axe(page);

  // An applicant verifies, and continues to the listing.
  await actAs(page, 'Ben Castillo');
  await main.getByRole('link', { name: 'Screening' }).click();
  await page.getByRole('button', { name: 'Good applicant' }).click();
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('Every check that ran was passed.').waitFor();
  await page.getByRole('button', { name: 'Copy holder’s address' }).waitFor();
  await main.getByRole('link', { name: 'Find a home to apply for' }).click();
  await main.getByRole('link', { name: '12 Oak Street' }).click();
  await page.getByText('Matches the chain').waitFor();
  await page.getByRole('button', { name: 'Apply for this home' }).click();
  await agreeAndApply(page);

  // The four flags and their chain record.
  await page.getByRole('heading', { name: 'Your application' }).waitFor();
  for (const flag of ['Minimum credit: met', 'Preferred credit: met', 'Minimum income: met'])
    await main.getByText(flag).waitFor();
  await main.getByText('Preferred income: not met').waitFor();
  await main.getByText(/Recorded in block\s+\d/).waitFor();
  await axe(page);
  await main.getByRole('link', { name: 'All your applications' }).click();
  await main.getByText('Preferred credit: met').waitFor();
  await main.getByText(/Applied .*\d{4}/).waitFor();
  await main.getByText(/Recorded in block\s+\d/).waitFor();
  await axe(page);
  await main
    .getByText(/^Transaction/)
    .getByRole('link')
    .click();
  await main.getByText('Mined', { exact: true }).waitFor();
  await main.getByText('Application checks').first().waitFor();
  await page.goBack();

  // The landlord sees the same.
  await openPage(page, 'My listings');
  await actAs(page, 'Ada Okafor');
  await main.getByRole('link', { name: 'Applicants of 12 Oak Street' }).click();
  const application = main.getByRole('article', { name: 'Application of Ben Castillo' });
  await application.getByText('Minimum income: met').waitFor();
  await application.getByText(/Recorded in block\s+\d/).waitFor();
  await application.getByRole('button', { name: 'Approve: Ben Castillo' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click();
  await application.getByText(/^Approved on/).waitFor();
  await axe(page);

  // An empty sandbox has no templates; demo data adds some.
  await openPage(page, 'Portfolios');
  await main.getByRole('heading', { name: 'No templates yet' }).waitFor();
  await main.getByRole('button', { name: 'Fill with demo data' }).click();
  await main
    .getByRole('button', { name: /^Copy / })
    .first()
    .click();
  await page.getByText('is in your portfolios').waitFor();
  await page.getByRole('tab', { name: 'My portfolios' }).click();
  await main.getByText('Copy', { exact: true }).first().waitFor();

  // A device.
  await openPage(page, 'Devices');
  await main.getByRole('button', { name: 'Register a device' }).click();
  const dialog = page.getByRole('dialog', { name: 'Register a device' });
  await dialog.getByLabel('Network').fill('Helium');
  await dialog.getByLabel('Device identifier').fill('newcomers-hotspot');
  await dialog.getByRole('button', { name: 'Register', exact: true }).click();
  await main.getByText('newcomers-hotspot', { exact: true }).waitFor();
  await axe(page);

  // The overview shows the new totals.
  await openPage(page, 'Overview');
  await main.getByRole('link', { name: /Listings\s*361\s/ }).waitFor();
  expect(await page.getByRole('heading', { name: 'Welcome to your sandbox' }).count()).toBe(0);
});
