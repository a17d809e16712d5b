import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { home } from './harness/homes';

const app = useConsole();

test('an empty sandbox welcomes and shows the way', async () => {
  const page = await app.open('/');
  await page.getByRole('heading', { name: 'Welcome to your sandbox' }).waitFor();
  await axe(page);
});

test('the overview counts what the service holds, and follows', async () => {
  await app.post('/listings', home('oak-12'));
  await app.post('/v1/depin-device', { userId: 'ada', network: 'Helium', deviceIdentifier: 'h-1' });
  await app.post('/v1/user-portfolio', { userId: 'ada', riskLevel: 'Moderate', isCustom: true, protocolItems: [] });
  const page = await app.open('/');
  await page.getByRole('link', { name: /Listings\s*1\s/ }).waitFor();
  await page.getByRole('list', { name: 'Devices by network' }).getByText('Helium').waitFor();
  await page.getByRole('img', { name: 'Portfolios by risk' }).waitFor();
  await app.post('/listings', home('elm-3', { state: 'CA' }));
  await page.getByRole('link', { name: /Listings\s*2\s/ }).waitFor();
  await axe(page);
});

test('every page of the navigation opens, is its own address, and the back button returns', async () => {
  const page = await app.open('/');
  for (const name of [
    'Listings',
    'My listings',
    'Saved',
    'Applications',
    'Screening',
    'Portfolios',
    'Devices',
    'Chain',
    'API',
  ]) {
    await page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  }
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Chain' }).waitFor();
});

test('an address that names nothing says so', async () => {
  const page = await app.open('/no/such/page');
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  await axe(page);
});

test('at phone width all pages are within reach', async () => {
  const page = await app.open('/', { width: 390, height: 844 });
  await page.getByRole('button', { name: 'More' }).click();
  await axe(page);
  await page.getByRole('dialog').getByRole('link', { name: 'Chain' }).click();
  await page.getByRole('heading', { level: 1, name: 'Chain' }).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test('the theme is the chosen one before the first paint', async () => {
  const page = await app.open('/', { theme: 'light' });
  await page.getByRole('button', { name: 'Use the dark theme' }).click();
  await page.reload({ waitUntil: 'commit' });
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
});
