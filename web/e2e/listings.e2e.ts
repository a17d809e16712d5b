import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { newListing, storeListings } from './harness/listings';

const app = useConsole();

test('an empty sandbox says so, and demo data is one click away', async () => {
  const page = await app.open('/listings');
  await page.getByRole('heading', { name: 'No homes yet' }).waitFor();
  await page.getByRole('link', { name: 'List a home' }).waitFor();
  await axe(page);

  await page.route('**/v1/sandbox/demo', async (route) => {
    await app.post('/listings', newListing('demo-1', { streetAddress: '1 Demo Street' }));
    await route.fulfill({
      status: 201,
      json: { message: 'Done', listings: 1, people: 5, applications: 0, portfolios: 0, devices: 0 },
    });
  });
  await page.reload();
  await page.getByRole('button', { name: 'Fill with demo data' }).click();
  await page.getByRole('link', { name: '1 Demo Street' }).waitFor();
  await axe(page);
});

test('search and filters work and are kept in the URL', { timeout: 180_000 }, async () => {
  await storeListings(app, 150);
  const page = await app.open('/listings');
  await page.getByText('151 homes').waitFor();
  await page.getByRole('searchbox', { name: 'Search homes' }).fill('denver');
  await page.getByText('50 homes').waitFor();
  expect(page.url()).toContain('q=denver');
  expect(await page.getByText('Austin, TX').count()).toBe(0);

  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByLabel('Rent up to').fill('1500');
  await page.getByRole('button', { name: 'Remove: Up to $1,500' }).waitFor();
  await page.getByLabel('Rent from').fill('cheap');
  await page.getByText('Must be a number, 0 or more.').waitFor();
  await axe(page);
  await page.getByLabel('Rent from').fill('');
  await page.getByLabel('Bedrooms').selectOption('2');
  await page.getByRole('button', { name: 'Remove: 2 bedrooms' }).waitFor();
  await page.keyboard.press('Escape');
  await axe(page);

  await page.reload();
  await page.getByRole('button', { name: 'Remove: 2 bedrooms' }).waitFor();
  expect(await page.getByRole('searchbox', { name: 'Search homes' }).inputValue()).toBe('denver');
  await page.getByRole('searchbox', { name: 'Search homes' }).fill('nothing of the kind');
  await page.getByRole('heading', { name: 'No home fits' }).waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Show all homes' }).click();
  await page.getByText('151 homes').waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'No home fits' }).waitFor();
});

test('the list and the map share the selection', async () => {
  const page = await app.open('/listings?q=listing-1');
  const map = page.getByRole('application', { name: 'Homes on the map' });
  const row = page.getByRole('article').filter({ hasText: '10 Oak Street' }).first();
  await row.hover();
  await map.locator('.map-pin.chosen').waitFor();
  await page.getByRole('searchbox').hover();
  await map.locator('.map-pin.chosen').waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Show 10 Oak Street on the map' }).click();
  await page.getByRole('searchbox').hover();
  await map.locator('.map-pin.chosen').waitFor();
  await page.goto(`${app.url}/console/listings?q=listing-149`);
  await map.locator('.map-pin').click();
  await page.locator('article.chosen').filter({ hasText: '149 Oak Street' }).waitFor();
});

test('moving the map offers to search there', async () => {
  const page = await app.open('/listings?q=oak');
  await page.getByText('150 homes').waitFor();
  expect(await page.getByRole('button', { name: 'Search this area' }).count()).toBe(0);
  const cluster = page.getByRole('button', { name: /50 here/ }).first();
  await cluster.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Search this area' }).click();
  await page.getByText(/^\d\d? homes?$/).waitFor();
  expect(page.url()).toContain('area=');
  await page.getByRole('button', { name: 'Remove: In the chosen area' }).click();
  await page.getByText('150 homes').waitFor();
});

test('near me finds listings, and a denied location is explained', async () => {
  const page = await app.open('/listings');
  await page.getByRole('button', { name: 'Near me' }).click();
  await page.getByText('does not tell where you are').waitFor();
  await page.context().grantPermissions(['geolocation']);
  await page.context().setGeolocation({ latitude: 39.74, longitude: -104.99 });
  await page.getByRole('button', { name: 'Near me' }).click();
  await page.getByRole('button', { name: 'Remove: Within 10 km' }).waitFor();
  await page.getByText('50 homes').waitFor();
  await axe(page);
});

test('at phone width a button switches between list and map', async () => {
  await app.post(
    '/listings',
    newListing('phone', { streetAddress: '1 Pocket Lane', city: 'Phoneville', latitude: 20, longitude: 20 }),
  );
  const page = await app.open('/listings?q=phoneville', { width: 390, height: 844 });
  await page.getByRole('link', { name: '1 Pocket Lane' }).waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Map', exact: true }).click();
  await page.locator('.map-pin').click();
  await page.getByRole('link', { name: '1 Pocket Lane' }).waitFor();
  await axe(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.goBack();
  await page.getByRole('button', { name: 'Map', exact: true }).waitFor();
});

test('hostile text of a listing stays text, in the list and on the map', async () => {
  const script = `<img src=x onerror="document.title='hacked'"><b>bold</b>`;
  await app.post(
    '/listings',
    newListing('evil', { streetAddress: script, city: 'Nowhereville', latitude: 10, longitude: 10 }),
  );
  const page = await app.open('/listings?q=nowhereville');
  await page.getByRole('link', { name: script }).waitFor();
  await page.locator('.map-pin').hover();
  expect(await page.title()).toBe('Listings · Portico');
  expect(await page.locator('main img').count()).toBe(0);
});
