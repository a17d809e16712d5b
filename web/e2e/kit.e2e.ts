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
  await page.getByText('Enter the name.').waitFor();
  expect(await name.getAttribute('aria-invalid')).toBe('true');
  expect(
    await name.evaluate((input) =>
      input
        .getAttribute('aria-describedby')
        ?.split(' ')
        .map((id) => document.getElementById(id)?.textContent?.trim()),
    ),
  ).toContain('Enter the name.');
  await page.getByText('Enter a number from 0 to 10,000.').waitFor();
  await page.getByText('elsewhere: Enter a value.').waitFor();
  expect(await page.getByLabel('Notes').inputValue()).toBe('typed before');
  await axe(page);
  await name.fill('Oak');
  await page.getByText('Enter the name.').waitFor({ state: 'detached' });
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

test('a cluster can be zoomed into, and a place can be picked', async () => {
  const page = await app.open('/kit?tab=maps');
  const map = page.getByRole('application', { name: 'Homes on the map' });
  const clusters = map.locator('.map-cluster');
  await clusters.first().waitFor();
  await page.waitForLoadState('networkidle');
  await axe(page);
  const before = await clusters.first().boundingBox();
  await clusters.first().click();
  await expect.poll(() => clusters.first().boundingBox()).not.toEqual(before);
  await page.getByRole('application', { name: 'Place the pin' }).click({ position: { x: 300, y: 60 } });
  await page.getByText('30.2672, -97.7431').waitFor({ state: 'detached' });
});
