// All components under the real Content-Security-Policy.
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';

const app = useConsole();

test.each(['basics', 'lists', 'charts'])('the %s have no accessibility violations', async (tab) => {
  const page = await app.open(`/kit?tab=${tab}`);
  await page.waitForLoadState('networkidle');
  await axe(page);
});

test('API errors appear at their fields, and the input stays', async () => {
  const page = await app.open('/kit?tab=forms');
  await page.getByLabel('Notes').fill('typed before');
  await page.getByRole('button', { name: 'Send' }).click();
  const name = page.getByLabel('Name');
  await page.getByText('Must not be empty.').waitFor();
  expect(await name.getAttribute('aria-invalid')).toBe('true');
  expect(
    await name.evaluate((input) =>
      input
        .getAttribute('aria-describedby')
        ?.split(' ')
        .map((id) => document.getElementById(id)?.textContent?.trim()),
    ),
  ).toContain('Must not be empty.');
  await page.getByText('Must be at least 0.').waitFor();
  await page.getByText('Elsewhere is missing.').waitFor();
  expect(await page.getByLabel('Notes').inputValue()).toBe('typed before');
  await axe(page);
  await name.fill('Oak');
  await page.getByText('Must not be empty.').waitFor({ state: 'detached' });
});

test('a select and a switch work by keyboard alone', async () => {
  const page = await app.open('/kit?tab=forms');
  await page.getByRole('combobox', { name: 'Risk' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'Aggressive', exact: true }).waitFor();
  await axe(page);
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.getByRole('combobox', { name: 'Risk' }).getByText('Aggressive').waitFor();
  const check = page.getByRole('switch', { name: /Income check/ });
  await check.focus();
  await page.keyboard.press('Space');
  expect(await check.getAttribute('aria-checked')).toBe('false');
});

test('dialogs, popovers and tooltips close with Escape and restore the focus', async () => {
  const page = await app.open('/kit?tab=overlays');
  for (const name of ['Dialog', 'Confirmation']) {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').waitFor();
    await axe(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe(name);
  }
  await page.getByRole('button', { name: 'Popover' }).click();
  await page.getByText('A small panel.').waitFor();
  await axe(page);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Tooltip' }).focus();
  await page.getByText('The digest of the listing').first().waitFor();
  await axe(page);
});

test('a list of ten thousand rows renders only those in view', async () => {
  const page = await app.open('/kit?tab=lists');
  const list = page.getByRole('region', { name: 'Homes', exact: true });
  await list.getByText('1 Oak Street', { exact: true }).waitFor();
  expect(await list.locator('li').count()).toBeLessThan(40);
  await list.evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await list.getByText('10000 Oak Street').waitFor();
  expect(await list.locator('li').count()).toBeLessThan(40);
});

test('thousands of pins cluster, and a place can be picked', async () => {
  const page = await app.open('/kit?tab=maps');
  const map = page.getByRole('application', { name: 'Homes on the map' });
  const clusters = map.locator('.map-cluster');
  await clusters.first().waitFor();
  expect(await clusters.count()).toBeLessThan(200);
  await page.waitForLoadState('networkidle');
  await axe(page);
  const before = await clusters.count();
  await clusters.first().click();
  await page.waitForTimeout(800);
  expect(await clusters.count()).not.toBe(before);
  await page.getByRole('application', { name: 'Place the pin' }).click({ position: { x: 300, y: 60 } });
  await page.getByText('30.2672, -97.7431').waitFor({ state: 'detached' });
});
