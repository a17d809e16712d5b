// What was typed and not saved: drafts survive navigation and a reload, and leaving a page asks.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { recordListing } from './harness/applications';

const app = useConsole();
const RESTORED = 'What you typed before is here again.';

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Leave without saving?' });
const main = (page: Page) => page.getByRole('navigation', { name: 'Main' });

test('leaving a form by a link asks, and the draft is there on return', async () => {
  const page = await app.open('/my-listings/new', { as: 'ada' });
  await page.getByLabel('Street').fill('1 Draft Lane');
  await main(page).getByRole('link', { name: 'Devices' }).click();
  await dialog(page).waitFor();
  await axe(page);
  await dialog(page).getByRole('button', { name: 'Stay' }).click();
  await dialog(page).waitFor({ state: 'detached' });
  expect(await page.getByLabel('Street').inputValue()).toBe('1 Draft Lane');

  await main(page).getByRole('link', { name: 'Devices' }).click();
  await dialog(page).getByRole('button', { name: 'Keep the draft' }).click();
  await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
  await page.goBack();
  await page.getByText(RESTORED).waitFor();
  expect(await page.getByLabel('Street').inputValue()).toBe('1 Draft Lane');
  await axe(page);
  await page.getByRole('button', { name: 'Discard the draft' }).click();
  expect(await page.getByLabel('Street').inputValue()).toBe('');
  // Nothing is unsaved any more.
  await main(page).getByRole('link', { name: 'Devices' }).click();
  await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
});

test('the Back button asks too, and discarding leaves no draft', async () => {
  const page = await app.open('/my-listings', { as: 'chloe' });
  await page.getByRole('link', { name: 'List a home' }).click();
  await page.getByLabel('Street').fill('2 Draft Lane');
  await page.goBack();
  await dialog(page).waitFor();
  expect(page.url()).toContain('/my-listings/new');
  await dialog(page).getByRole('button', { name: 'Stay' }).click();
  await page.goBack();
  await dialog(page).getByRole('button', { name: 'Discard it' }).click();
  await page.getByRole('heading', { level: 1, name: 'My listings' }).waitFor();
  await page.goForward();
  await page.getByRole('heading', { level: 1, name: 'List a home' }).waitFor();
  expect(await page.getByLabel('Street').inputValue()).toBe('');
  expect(await page.getByText(RESTORED).count()).toBe(0);
});

test('a reload asks, and the draft of an edit is there afterwards', async () => {
  await recordListing(app, 'elm-1');
  const page = await app.open('/my-listings/elm-1/edit', { as: 'ada' });
  let asked = 0;
  page.on('dialog', (asking) => {
    if (asking.type() === 'beforeunload') asked += 1;
    void asking.accept();
  });
  await page.getByLabel('Description').click();
  await page.keyboard.type('Half a descr');
  await page.reload();
  expect(asked).toBe(1);
  await page.getByText(RESTORED).waitFor();
  expect(await page.getByLabel('Description').inputValue()).toBe('Half a descr');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save and record' }).click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  // Saved: no draft, and no question.
  await page.goBack();
  await page.getByLabel('Description').waitFor();
  expect(await page.getByText(RESTORED).count()).toBe(0);
  await page.reload();
  expect(asked).toBe(1);
});

test('a portfolio that is being put together is kept', async () => {
  const page = await app.open('/portfolios/new', { as: 'zoe' });
  await page.getByLabel('Name').fill('Half done');
  await page.getByRole('button', { name: 'Add a protocol' }).click();
  await page.getByRole('group', { name: 'Protocol 2' }).getByLabel('Share in %').fill('12.5');
  await page.getByRole('link', { name: 'Cancel' }).click();
  await dialog(page).getByRole('button', { name: 'Keep the draft' }).click();
  await page.getByRole('link', { name: 'Start from scratch' }).click();
  await page.getByText(RESTORED).waitFor();
  expect(await page.getByLabel('Name').inputValue()).toBe('Half done');
  await page.getByText('87.5% left to allocate').waitFor();
});

test('a draft of a verification has no secrets, and belongs to its user', async () => {
  const page = await app.open('/screening', { as: 'late' });
  await page.getByRole('button', { name: 'Good applicant' }).click();
  await main(page).getByRole('link', { name: 'Devices' }).click();
  await dialog(page).getByRole('button', { name: 'Keep the draft' }).click();
  await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
  const stored = await page.evaluate(() => JSON.stringify({ ...sessionStorage }) + JSON.stringify({ ...localStorage }));
  expect(stored).toContain('Grace');
  expect(stored).not.toContain('900-00-0720');
  expect(stored).not.toContain('income-85000');
  await page.goBack();
  await page.getByText(RESTORED).waitFor();
  expect(await page.getByLabel('First name').inputValue()).toBe('Grace');
  expect(await page.locator('input[name=SSN]').inputValue()).toBe('');
  await page.getByRole('button', { name: /Acting as/ }).click();
  await page.getByRole('menuitem', { name: /Castillo/ }).click();
  await page.getByText('You are now').waitFor();
  expect(await page.getByLabel('First name').inputValue()).toBe('');
});

test('names of an applicant are kept nowhere, and leaving asks', async () => {
  const page = await app.open('/screening?tab=identifier', { as: 'chloe' });
  await page.getByLabel('First name').fill('Grace');
  // Another tab of the page does not lose them.
  await page.getByRole('tab', { name: 'Results' }).click();
  await page.getByRole('tab', { name: 'Verify an applicant' }).click();
  expect(await page.getByLabel('First name').inputValue()).toBe('Grace');
  await main(page).getByRole('link', { name: 'Devices' }).click();
  await dialog(page).getByText('What you typed here is not kept').waitFor();
  expect(await dialog(page).getByRole('button', { name: 'Keep the draft' }).count()).toBe(0);
  await axe(page);
  await dialog(page).getByRole('button', { name: 'Stay' }).click();
  await dialog(page).waitFor({ state: 'detached' });

  await page.getByLabel('Case', { exact: true }).fill('case-draft');
  await main(page).getByRole('link', { name: 'Devices' }).click();
  await dialog(page).getByText('not the names that you typed').waitFor();
  await dialog(page).getByRole('button', { name: 'Keep the draft' }).click();
  await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
  const stored = await page.evaluate(() => JSON.stringify({ ...sessionStorage }) + JSON.stringify({ ...localStorage }));
  expect(stored).not.toContain('Grace');
  await page.goBack();
  await page.getByText(RESTORED).waitFor();
  expect(await page.getByLabel('Case', { exact: true }).inputValue()).toBe('case-draft');
  expect(await page.getByLabel('First name').inputValue()).toBe('');
});

test('rows of an import are kept', async () => {
  const page = await app.open('/devices/import', { as: 'ivy' });
  await page.getByLabel('Rows', { exact: true }).fill('Helium,draft-1');
  await page.getByRole('link', { name: 'Devices' }).last().click();
  await dialog(page).getByRole('button', { name: 'Keep the draft' }).click();
  await page.getByRole('link', { name: 'Import a CSV' }).click();
  await page.getByRole('button', { name: 'Register 1 device', exact: true }).click();
  await page.getByText('1 device registered.').waitFor();
  await page.getByRole('link', { name: 'See my devices' }).click();
  await page.getByText('draft-1', { exact: true }).waitFor();
});
