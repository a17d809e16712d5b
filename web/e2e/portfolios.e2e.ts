// Portfolios: templates, copies, the editor, and template management by operators.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';

const app = useConsole();

const item = (protocolName: string, allocationPercentage: number) => ({
  protocolName,
  protocolIdentifier: protocolName.toLowerCase(),
  allocationPercentage,
});

async function createTemplate(name: string, riskLevel: string, more: object = {}): Promise<string> {
  const protocolItems = [item('Filecoin', 62.5), item('Helium', 37.5)];
  const created = await app.post<{ predefinedPortfolioId: string }>('/v1/predefined-portfolio', {
    name,
    riskLevel,
    protocolItems,
    ...more,
  });
  return created.predefinedPortfolioId;
}

const row = (page: Page, number: number) => page.getByRole('group', { name: `Protocol ${number}`, exact: true });

test('without templates the page offers to start from nothing', async () => {
  const page = await app.open('/portfolios', { as: 'chloe' });
  await page.getByRole('heading', { name: 'No templates yet' }).waitFor();
  await axe(page);
  await page.getByRole('tab', { name: 'My portfolios' }).click();
  await page.getByRole('heading', { name: 'No portfolios yet' }).waitFor();
  await axe(page);
  await page.getByRole('link', { name: 'Start from scratch' }).click();
  await page.getByRole('heading', { level: 1, name: 'New portfolio' }).waitFor();
});

test('templates filter by risk, and a copy can be undone', async () => {
  await createTemplate('Steady storage', 'Conservative');
  await createTemplate('Wild wireless', 'Aggressive');
  const page = await app.open('/portfolios', { as: 'chloe' });
  await page.getByRole('img', { name: 'What Steady storage holds' }).waitFor();
  await axe(page);
  await page.getByRole('button', { name: /^Aggressive/ }).click();
  await page.getByRole('link', { name: 'Steady storage' }).waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('risk')).toBe('Aggressive');
  await page.goBack();
  await page.getByRole('button', { name: 'Copy Steady storage', exact: true }).click();
  await page.getByText('“Steady storage” is in your portfolios.').waitFor();
  await page.getByRole('tab', { name: 'My portfolios' }).click();
  await page.getByRole('link', { name: 'Steady storage', exact: true }).waitFor();
  // Hovering keeps the toast open.
  await page.getByRole('button', { name: 'Undo' }).hover();
  await axe(page);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('heading', { name: 'No portfolios yet' }).waitFor();
});

test('the editor shows the unallocated share and rejects invalid values', async () => {
  await createTemplate('Balanced', 'Moderate');
  const page = await app.open('/portfolios', { as: 'dev' });
  await page.getByRole('button', { name: 'Customise a copy of Balanced' }).click();
  await page.getByRole('heading', { level: 1, name: 'New portfolio' }).waitFor();
  expect(await page.getByLabel('Name').inputValue()).toBe('Balanced');
  const save = page.getByRole('button', { name: 'Create the portfolio' });
  const share = row(page, 1).getByLabel('Share in %');
  await page.getByText('100% allocated').waitFor();
  await share.fill('70');
  await page.getByText('7.5% too much: lower a share').waitFor();
  expect(await save.isDisabled()).toBe(true);
  await axe(page);
  await share.fill('12.34567');
  await page.getByText('Use at most 4 decimals.').waitFor();
  expect(await save.isDisabled()).toBe(true);
  await share.fill('50');
  await page.getByText('12.5% left to allocate').waitFor();

  await page.getByRole('button', { name: 'Add a protocol' }).click();
  await save.click();
  await page.getByText('Enter the protocol.').waitFor();
  await page.getByText('Enter the share.').waitFor();
  await axe(page);
  await row(page, 3).getByLabel('Protocol', { exact: true }).fill('DIMO');
  expect(await row(page, 3).getByLabel('Identifier').inputValue()).toBe('dimo');
  await page.getByRole('button', { name: 'Use remaining 12.5% for DIMO' }).click();
  await page.getByText('100% allocated').waitFor();
  await page.getByLabel('Name').fill('Mine, balanced');
  await save.click();
  await page.getByRole('img', { name: 'What Mine, balanced holds' }).waitFor();
  await page.getByText('Customised').waitFor();
});

test('customising and cancelling leaves nothing, and copies have own names', async () => {
  await createTemplate('Untouched', 'Moderate');
  const page = await app.open('/portfolios', { as: 'cara' });
  await page.getByRole('button', { name: 'Customise a copy of Untouched' }).click();
  await page.getByText('Based on').waitFor();
  await page.getByText('100% allocated').waitFor();
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.getByRole('tab', { name: 'My portfolios' }).click();
  await page.getByRole('heading', { name: 'No portfolios yet' }).waitFor();

  await page.getByRole('tab', { name: 'Templates', exact: true }).click();
  for (const name of ['Untouched', 'Untouched (2)']) {
    await page.getByRole('button', { name: 'Copy Untouched', exact: true }).click();
    await page.getByText(`“${name}” is in your portfolios.`).waitFor();
  }
  await page.getByRole('button', { name: 'Customise a copy of Untouched' }).click();
  await page.getByLabel('Name').waitFor();
  expect(await page.getByLabel('Name').inputValue()).toBe('Untouched (3)');
  await page.getByRole('button', { name: 'Create the portfolio' }).click();
  for (const name of ['Untouched', 'Untouched (2)', 'Untouched (3)'])
    await page.getByRole('link', { name, exact: true }).waitFor();
  expect(await page.getByText('Customised', { exact: true }).count()).toBe(1);
  await axe(page);
});

test('messages cover no button, and a long name keeps its Undo visible', async () => {
  const name = 'W'.repeat(255);
  for (const [i, size] of [
    [1440, 900],
    [390, 640],
    [320, 500],
  ].entries()) {
    const [width = 0, height = 0] = size;
    for (const more of ['a', 'b'])
      await app.post('/v1/user-portfolio', {
        userId: `long-${i}`,
        name: more + name.slice(1),
        riskLevel: 'Moderate',
        isCustom: true,
        protocolItems: [item('Helium', 40)],
      });
    const page = await app.open('/portfolios?tab=mine', { as: `long-${i}`, width, height });
    const remove = page.getByRole('button', { name: `Delete a${name.slice(1)}` });
    await remove.click();
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.waitFor();
    const { x, y, width: w, height: h } = (await undo.boundingBox()) ?? { x: -1, y: -1, width: 0, height: 0 };
    expect([x >= 0, y >= 0, x + w <= width, y + h <= height]).toEqual([true, true, true, true]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    // Hovering keeps the message while the editor opens.
    await undo.hover();
    await page.getByRole('link', { name: `Edit b${name.slice(1)}` }).evaluate((link: HTMLElement) => link.click());
    const save = page.getByRole('button', { name: 'Save' });
    await save.waitFor();
    expect(await undo.count()).toBe(1);
    for (const button of [save, page.getByRole('link', { name: 'Cancel' })]) {
      const isOnTop = await button.evaluate((element) => {
        element.scrollIntoView({ block: 'nearest' });
        const { left, top, width, height } = element.getBoundingClientRect();
        return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
      });
      expect(isOnTop).toBe(true);
    }
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.evaluate(() => window.scrollTo(0, 0));
    await axe(page);
  }
});

test('three equal shares are exactly 100, by keyboard alone', async () => {
  const page = await app.open('/portfolios/new', { as: 'zoe' });
  await page.getByLabel('Name').focus();
  await page.keyboard.type('Thirds');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'Moderate', exact: true }).waitFor();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  for (const [i, name] of ['Helium', 'Render', 'Storj'].entries()) {
    if (i > 0) {
      await page.getByRole('button', { name: 'Add a protocol' }).focus();
      await page.keyboard.press('Enter');
    } else await row(page, 1).getByLabel('Protocol', { exact: true }).focus();
    await page.keyboard.type(name);
  }
  await page.getByRole('button', { name: 'Spread evenly' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('100% allocated').waitFor();
  expect(await row(page, 1).getByLabel('Share in %').inputValue()).toBe('33.3334');
  await page.getByRole('button', { name: 'Create the portfolio' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Thirds', exact: true }).waitFor();
  await page.getByText('Aggressive', { exact: true }).waitFor();
});

test('a comma is the decimal separator on a Spanish page', async () => {
  const page = await app.open('/portfolios/new', { as: 'zoe', locale: 'es-ES' });
  await page.locator('input[inputmode=decimal]').first().fill('62,5');
  await page
    .getByText(/37,5\s%/)
    .first()
    .waitFor();
});

test('API errors appear at their fields', async () => {
  const page = await app.open('/portfolios/new', { as: 'zoe' });
  page.monitor.allow(/400/);
  await page.getByLabel('Name').fill('Odd');
  await page.getByRole('combobox', { name: 'Risk' }).click();
  await page.getByRole('option', { name: 'Aggressive', exact: true }).click();
  await row(page, 1).getByLabel('Protocol', { exact: true }).fill('He\u0085lium');
  await row(page, 1).getByLabel('Identifier').fill('hnt');
  await row(page, 1).getByLabel('Share in %').fill('100');
  await page.getByRole('button', { name: 'Create the portfolio' }).click();
  await page.getByText(/control character/i).waitFor();
  expect(await row(page, 1).getByLabel('Protocol', { exact: true }).getAttribute('aria-invalid')).toBe('true');
});

test('deleting a portfolio can be undone or asks for confirmation', async () => {
  await app.post('/v1/user-portfolio', {
    userId: 'ivy',
    name: 'Keep me',
    riskLevel: 'Moderate',
    isCustom: true,
    protocolItems: [item('Helium', 40)],
  });
  const page = await app.open('/portfolios?tab=mine', { as: 'ivy' });
  await page.getByRole('button', { name: 'Delete Keep me' }).click();
  await page.getByRole('heading', { name: 'No portfolios yet' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('link', { name: 'Keep me', exact: true }).click();
  await page.getByText('60% left to allocate').waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog', { name: 'Delete this portfolio?' }).waitFor();
  await axe(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No portfolios yet' }).waitFor();
});

test('the operator makes, edits, deactivates and restores a template', async () => {
  const page = await app.open('/portfolios', { as: 'operator' });
  await page.getByRole('link', { name: 'New template' }).click();
  await page.getByLabel('Name').fill('Fresh');
  await page.getByRole('combobox', { name: 'Risk' }).click();
  await page.getByRole('option', { name: 'Moderate Conservative' }).click();
  await row(page, 1).getByLabel('Protocol', { exact: true }).fill('Helium');
  await page.getByRole('button', { name: 'Use remaining 100% for Helium' }).click();
  await page.getByRole('button', { name: 'Offer the template' }).click();
  await page.getByRole('link', { name: 'Edit the template Fresh' }).click();
  await page.getByLabel('Description').fill('One network,\nall in.');
  await axe(page);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('One network, all in.').waitFor();

  await page.getByRole('button', { name: 'Deactivate Fresh' }).click();
  await page.getByRole('link', { name: 'Fresh', exact: true }).waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'Inactive' }).click();
  await page.getByRole('link', { name: 'Fresh', exact: true }).click();
  await page.getByText('Inactive', { exact: true }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Restore Fresh' }).waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Restore Fresh' }).click();
  await page.getByRole('heading', { name: 'All templates are offered' }).waitFor();
  await page.getByRole('tab', { name: 'Templates', exact: true }).click();
  await page.getByRole('link', { name: 'Fresh', exact: true }).waitFor();
});

test('an inactive template that this browser has never seen opens by its id', async () => {
  const id = await createTemplate('Elsewhere', 'Moderate', { isActive: false });
  const page = await app.open('/portfolios?tab=inactive', { as: 'operator' });
  await page.getByRole('heading', { name: '1 more template is inactive' }).waitFor();
  await axe(page);
  await page.getByLabel('Template id').fill(id);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('heading', { level: 1, name: 'Elsewhere' }).waitFor();
  await page.getByRole('button', { name: 'Restore' }).click();
  await page.getByText('“Elsewhere” is offered again.').waitFor();
});

test('hostile text of a template stays text in view and editor', async () => {
  const script = `<img src=x onerror="document.title='hacked'"><b>bold</b>`;
  const id = await createTemplate(script, 'Moderate', {
    description: '{{7*7}} javascript:alert(1)',
    protocolItems: [item(script, 50), item(script, 25), item('2 others', 1)],
  });
  const page = await app.open(`/portfolios/templates/${id}`, { as: 'ben' });
  await page.getByRole('heading', { level: 1, name: script }).waitFor();
  await page.getByRole('cell', { name: script }).first().waitFor();
  await axe(page);
  await page.getByRole('link', { name: 'Portfolios' }).last().click();
  await page.getByRole('link', { name: script, exact: true }).waitFor();
  expect(await page.title()).toBe('Portfolios · Portico');
  expect(await page.locator('main img').count()).toBe(0);
  const editor = await app.open(`/portfolios/templates/${id}`, { as: 'operator' });
  await editor.getByText('24% left to allocate').waitFor();
  expect(await editor.locator('main img').count()).toBe(0);
});

test('an unknown portfolio shows an error', async () => {
  const page = await app.open('/portfolios/nothing-here');
  page.monitor.allow(/404/);
  await page.reload();
  await page.getByRole('heading', { name: 'This could not be loaded' }).waitFor();
  page.monitor.errors.length = 0;
});

test('everything fits at phone width', async () => {
  for (const path of ['/portfolios', '/portfolios?tab=mine', '/portfolios/new']) {
    const page = await app.open(path, { width: 390, height: 844, as: 'dev' });
    await page.waitForLoadState('networkidle');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await axe(page);
  }
});
