// The table of a landlord's homes: search, order, status, several at once, CSV, and the timeline of one.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { applyFor, recordListing, verify } from './harness/applications';
import { newListing } from './harness/listings';

const FORMULA = '=HYPERLINK("http://evil.example","Oak")';

const app = useConsole(async (app) => {
  await recordListing(app, 'oak-1', { monthlyPayment: 1850 });
  await app.post('/listings', newListing('oak-2', { userId: 'ada', streetAddress: '2 Pine Way', monthlyRent: 900 }));
  await app.post('/listings', newListing('oak-3', { userId: 'ada', streetAddress: FORMULA, monthlyRent: 2400 }));
  await app.post('/listings', newListing('oak-4', { userId: 'ada', streetAddress: '10 Pine Way', monthlyRent: 1000 }));
  await app.post('/listings', newListing('bens', { userId: 'ben', streetAddress: 'Not Adas Home' }));
  await patch('ada', 'oak-4', { status: 'rented' });
  await verify(app, 'ben', 'case-1');
  for (const userId of ['ben', 'mia']) await applyFor(app, userId, 'oak-1');
});

async function patch(userId: string, id: string, body: object) {
  const headers = { 'content-type': 'application/json', ...(await app.tokenHeaders(userId)) };
  const response = await fetch(`${app.url}/v1/listings/${id}`, {
    method: 'PATCH',
    headers,
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
}

const table = (page: Page) => page.getByRole('table', { name: 'Your homes' });
const row = (page: Page, name: string) => table(page).getByRole('row').filter({ hasText: name });
const streets = (page: Page) => table(page).locator('tbody th a').allTextContents();

/** Waits for the status and applicants of every home. */
async function openTable(options: object = {}, query = '') {
  const page = await app.open(`/my-listings${query}`, { as: 'ada', ...options });
  await page.locator('main button[aria-pressed]').first().waitFor();
  await page.waitForFunction(() => !document.querySelector('main')?.textContent.includes('…'));
  return page;
}

test('listings are counted by status, searched, and sorted by headings', async () => {
  const page = await openTable();
  for (const name of ['All homes 4', 'Active 3', 'Paused 0', 'Rented 1'])
    await page.getByRole('button', { name, exact: true }).waitFor();
  await row(page, 'oak-1 Street').getByText('Recorded', { exact: true }).waitFor();
  await row(page, '2 Pine Way').getByText('Not recorded').waitFor();
  await page.getByRole('link', { name: 'Applicants of oak-1 Street' }).waitFor();
  expect(await page.getByText('Not Adas Home').count()).toBe(0);
  await axe(page);

  await page.getByRole('button', { name: 'Rent', exact: true }).click();
  expect(await streets(page)).toEqual(['2 Pine Way', '10 Pine Way', 'oak-1 Street', FORMULA]);
  await page.getByRole('button', { name: 'Rent', exact: true }).click();
  expect(await streets(page)).toEqual([FORMULA, 'oak-1 Street', '10 Pine Way', '2 Pine Way']);
  expect(await page.getByRole('columnheader', { name: 'Rent' }).getAttribute('aria-sort')).toBe('descending');

  await page.getByRole('searchbox', { name: 'Search your homes' }).fill('pine');
  await row(page, 'oak-1 Street').waitFor({ state: 'detached' });
  expect(await streets(page)).toEqual(['10 Pine Way', '2 Pine Way']);
  await page.getByRole('button', { name: /^Rented/ }).click();
  await row(page, '2 Pine Way').waitFor({ state: 'detached' });
  // What is shown is in the URL.
  await page.reload();
  await row(page, '10 Pine Way').waitFor();
  expect(await streets(page)).toEqual(['10 Pine Way']);
  await page.getByRole('searchbox', { name: 'Search your homes' }).fill('no such home');
  await page.getByText('No home matches.').waitFor();
  await axe(page);
});

test('several homes are paused at once, with a report for each', async () => {
  const page = await openTable({}, '?sort=address');
  page.monitor.allow(/412/);
  await page.getByRole('checkbox', { name: 'Choose all' }).check();
  await page.getByText('4 homes chosen').waitFor();
  await axe(page);
  // Meanwhile one of them changes.
  await patch('ada', 'oak-3', { monthlyRent: 2450 });
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  const report = page.getByRole('region', { name: 'Report' });
  await report.getByText('2 homes paused.').waitFor();
  await report.getByText('1 was left as it is.').waitFor();
  await report.getByText('1 failed.').waitFor();
  await report.getByRole('listitem').filter({ hasText: '10 Pine Way' }).getByText('Left as it is').waitFor();
  await report.getByRole('listitem').filter({ hasText: FORMULA }).getByText('Failed').waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Paused 2' }).waitFor();
  await row(page, '2 Pine Way').getByText('Paused').waitFor();
  expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
  await report.getByRole('button', { name: 'Close the report' }).click();

  await page.getByRole('checkbox', { name: 'Choose 2 Pine Way' }).check();
  await page.getByRole('button', { name: 'Activate', exact: true }).click();
  await report.getByText('1 home activated.').waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Paused 1' }).waitFor();
});

test('the CSV has what is shown, and no formula', async () => {
  const page = await openTable({}, '?q=oak&sort=rent-high');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/^my-listings-\d{4}-\d\d-\d\d\.csv$/);
  const text = await readFile(await file.path(), 'utf8');
  expect(text.startsWith('\ufefflistingId,streetAddress,city,state,postalCode,monthlyRent')).toBe(true);
  const lines = text.trimEnd().split('\r\n');
  expect(lines).toHaveLength(5);
  expect(lines[1]).toContain(`oak-3,"'=HYPERLINK(""http://evil.example"",""Oak"")",Austin,TX,78701,2450`);
  expect(lines[2]).toMatch(/^oak-1,oak-1 Street,Austin,TX,78701,1850,,,\w+,2,true,2/);
});

test('columns are chosen and kept, and the export has all of them', async () => {
  const page = await openTable();
  const headings = () => table(page).getByRole('columnheader').allTextContents();
  const columns = page.getByRole('button', { name: 'Columns', exact: true });
  await columns.click();
  await page.getByRole('checkbox', { name: 'Rent' }).uncheck();
  await page.getByRole('checkbox', { name: 'Listed on' }).check();
  await axe(page);
  await page.keyboard.press('Escape');
  const chosen = ['Home', 'Status', 'Applicants', 'On the chain', 'Listed on'];
  expect((await headings()).map((text) => text.trim())).toEqual(['', ...chosen, 'Actions']);
  await page.getByRole('button', { name: 'Listed on' }).waitFor();
  await axe(page);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ]);
  expect(await readFile(await file.path(), 'utf8')).toContain('monthlyRent');
  await page.reload();
  await table(page).waitFor();
  expect((await headings()).map((text) => text.trim())).toEqual(['', ...chosen, 'Actions']);
});

test('a timeline has edits, applications, decisions and records', async () => {
  await patch('ada', 'oak-1', { monthlyRent: 1900.5 });
  const page = await app.open('/my-listings/oak-1', { as: 'ada' });
  const timeline = page.locator('main section').filter({ has: page.getByRole('heading', { name: 'Timeline' }) });
  await timeline.getByText('Monthly rent: $1,850 → $1,900.50').waitFor();
  await timeline.getByText('mia applied').waitFor();
  await timeline
    .getByText(/^Recorded on the chain in block \d+/)
    .first()
    .waitFor();
  const application = page.getByRole('article', { name: 'Application of Ben Castillo' });
  await application.getByRole('button', { name: /^Approve:/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click();
  await timeline.getByText('Ben Castillo was approved').waitFor();
  const events = await timeline.getByRole('listitem').allTextContents();
  expect(events[0]).toContain('Ben Castillo was approved');
  expect(events.at(-1)).toContain('Listed');
  await axe(page);
});

test.each(['en-US', 'es-MX'])('the table fits and is accessible in %s', async (locale) => {
  for (const width of [320, 1440]) {
    const page = await openTable({ locale, width });
    await page.getByRole('checkbox').nth(1).check();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await axe(page);
  }
});
