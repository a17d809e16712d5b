import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { newListing } from './harness/listings';

const app = useConsole();

test('an empty sandbox shows the first steps', async () => {
  const page = await app.open('/overview');
  await page.getByRole('heading', { name: 'Welcome to your sandbox' }).waitFor();
  await page
    .getByRole('main')
    .getByRole('link', { name: /Register a device/ })
    .waitFor();
  await axe(page);
});

test('demo data fills an empty sandbox in one click', async () => {
  const page = await app.open('/saved');
  await page.route('**/v1/sandbox/demo', async (route) => {
    await app.post('/listings', newListing('demo-1', { state: 'NY' }));
    const totals = {
      message: 'Demo data made',
      listings: 240,
      people: 12,
      applications: 80,
      portfolios: 15,
      devices: 60,
    };
    await route.fulfill({ status: 201, json: totals });
  });
  await page.getByRole('link', { name: 'Overview' }).first().click();
  await page.getByRole('button', { name: 'Fill with demo data' }).waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Fill with demo data' }).click();
  await page.getByText('Demo data is here: 240 listings, 80 applications, 15 portfolios, 60 devices.').waitFor();
  await page.getByRole('list', { name: 'Listings by state' }).getByText('NY').waitFor();
  await page.getByRole('heading', { name: 'Welcome to your sandbox' }).waitFor({ state: 'detached' });
  await fetch(`${app.url}/listings/demo-1`, { method: 'DELETE' });
});

test('the overview shows totals and updates them', async () => {
  await app.post('/listings', newListing('oak-12'));
  await app.post('/v1/depin-device', { userId: 'ada', network: 'Helium', deviceIdentifier: 'h-1' });
  await app.post('/v1/user-portfolio', { userId: 'ada', riskLevel: 'Moderate', isCustom: true, protocolItems: [] });
  const page = await app.open('/overview');
  await page.getByRole('link', { name: /Listings\s*1\s/ }).waitFor();
  await page.getByRole('list', { name: 'Devices by network' }).getByText('Helium').waitFor();
  await page.getByRole('img', { name: 'Portfolios by risk' }).waitFor();
  await page.getByRole('img', { name: 'Listings on chain' }).waitFor();
  await page.getByText('Waiting to be signed').waitFor();
  await app.post('/listings', newListing('elm-3', { state: 'CA' }));
  await page.getByRole('link', { name: /Listings\s*2\s/ }).waitFor();
  await axe(page);
});

test('stale figures are marked until they update again', async () => {
  const page = await app.open('/overview');
  page.monitor.allow(/500/);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.route('**/v1/chain/status', (route) => route.fulfill({ status: 500, json: {} }));
  await page.getByText('Not up to date, trying again').waitFor();
  await axe(page);
  await page.unroute('**/v1/chain/status');
  await page.getByText('Live', { exact: true }).waitFor();
});

test('names that collide or are hostile are shown as they are', async () => {
  const script = `<img src=x onerror="document.title='hacked'">`;
  // A network with the same name as the merged slice of the chart.
  for (const network of [script, '2 others', 'a', 'b', 'c', 'd', 'e', 'f']) {
    await app.post('/v1/depin-device', { userId: 'ada', network, deviceIdentifier: 'x' });
  }
  await app.post('/v1/depin-device', { userId: 'ada', network: '2 others', deviceIdentifier: 'y' });
  await app.post('/v1/depin-device', { userId: 'ada', network: script, deviceIdentifier: 'y' });
  const page = await app.open('/overview');
  await page.getByRole('list', { name: 'Devices by network' }).getByText(script).waitFor();
  expect(await page.locator('main img').count()).toBe(0);
  expect(await page.title()).toBe('Overview · Portico');
});

test('every navigation entry has its own URL, and the back button works', async () => {
  const page = await app.open('/overview');
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

test('an unknown URL shows the not-found page', async () => {
  const page = await app.open('/no/such/page');
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  await axe(page);
});

test('at phone width all pages are reachable', async () => {
  const page = await app.open('/', { width: 390, height: 844 });
  await page.getByRole('button', { name: 'More' }).click();
  await axe(page);
  await page.getByRole('dialog').getByRole('link', { name: 'Chain' }).click();
  await page.getByRole('heading', { level: 1, name: 'Chain' }).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test('the chosen theme is set before the first paint', async () => {
  const page = await app.open('/', { theme: 'light' });
  await page.getByRole('button', { name: 'Use the dark theme' }).click();
  await page.reload({ waitUntil: 'commit' });
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
});
