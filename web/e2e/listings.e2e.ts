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
  await expect.poll(() => page.getByText('Austin, TX').count()).toBe(0);

  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByLabel('Rent up to').fill('1.500');
  await page.getByText('Do you mean 1,500 or 1.5?').waitFor();
  await page.getByLabel('Rent up to').fill('1,500');
  await page.getByRole('button', { name: 'Remove: Up to $1,500' }).waitFor();
  await page.getByLabel('Rent from').fill('cheap');
  await page.getByText('Enter a number, such as 1,850.50.').waitFor();
  await axe(page);
  await page.getByLabel('Rent from').fill('');
  await page.getByLabel('Bedrooms', { exact: true }).selectOption('2');
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

test('homes are sorted, and have a number of bedrooms or more', async () => {
  const page = await app.open('/listings');
  const homes = page.getByRole('region', { name: 'Homes', exact: true }).getByRole('article');
  await page.getByText('151 homes').waitFor();
  const newest = await homes.first().textContent();
  const sort = page.getByRole('combobox', { name: 'Sort by' });
  await sort.selectOption('Lowest rent first');
  await page.waitForURL(/sort=rent/);
  await expect.poll(() => homes.first().textContent()).not.toBe(newest);
  await sort.selectOption('Newest first');
  await expect.poll(() => homes.first().textContent()).toBe(newest);

  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByLabel('Bedrooms', { exact: true }).selectOption('2 or more');
  await page.getByRole('button', { name: 'Remove: 2 bedrooms or more' }).waitFor();
  expect(page.url()).toContain('minBeds=2');
  await page.getByLabel('Bedrooms', { exact: true }).selectOption('3');
  await page.getByRole('button', { name: 'Remove: 3 bedrooms' }).waitFor();
  expect(page.url()).not.toContain('minBeds');
});

test('only what is seen is loaded, and the count comes from the service', async () => {
  const page = await app.open('/', { width: 390, height: 844 });
  const requests: string[] = [];
  page.on('request', (request) => {
    if (/\/listings\?.*limit=/.test(request.url())) requests.push(request.url());
  });
  await page.goto(`${app.url}/console/listings`);
  await page.getByText('151 homes').waitFor();
  await page.waitForLoadState('networkidle');
  expect(requests).toHaveLength(1);
  await page.getByRole('button', { name: 'Map', exact: true }).click();
  await page.locator('.map-cluster').first().waitFor();
  await page.waitForLoadState('networkidle');
  expect(requests, 'the map loads no list').toHaveLength(1);
});

test('the keyboard can skip past the list', async () => {
  const page = await app.open('/listings');
  await page.getByText('151 homes').waitFor();
  const skip = page.getByRole('button', { name: 'Skip past the list' });
  await page.getByRole('combobox', { name: 'Sort by' }).focus();
  await page.keyboard.press('Tab');
  expect(await skip.evaluate((button) => button === document.activeElement)).toBe(true);
  await axe(page);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  const isInList = await page.evaluate(() => document.activeElement?.closest('[aria-label="Homes"]') !== null);
  expect(isInList).toBe(false);
});

test('a search is a step in the history, so that Back stays on the page', async () => {
  const page = await app.open('/listings');
  const field = page.getByRole('searchbox', { name: 'Search homes' });
  await field.pressSequentially('denver', { delay: 20 });
  await page.getByText('50 homes').waitFor();
  await page.getByRole('heading', { level: 1 }).click();
  await field.fill('boston');
  await page.waitForURL(/q=boston/);
  await page.goBack();
  await page.waitForURL(/q=denver/);
  expect(await field.inputValue()).toBe('denver');
  await page.goBack();
  await page.waitForURL((url) => url.pathname.endsWith('/listings') && !url.searchParams.has('q'));
  expect(await field.inputValue()).toBe('');
});

test('the list and the map share the selection', async () => {
  const page = await app.open('/listings?q=listing-14&sort=rent');
  const map = page.getByRole('application', { name: 'Homes on the map' });
  const row = page.getByRole('article').filter({ hasText: '14 Oak Street' });
  await row.hover();
  await map.locator('.map-pin.chosen').waitFor();
  await page.getByRole('searchbox').hover();
  await map.locator('.map-pin.chosen').waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Show 14 Oak Street on the map' }).click();
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

test('one bad pin does not zoom out to the world', async () => {
  for (const [i, latitude] of [44.95, 44.98, 45.01].entries())
    await app.post('/listings', newListing(`frost-${i}`, { city: 'Frostville', latitude, longitude: -93.26 }));
  await app.post('/listings', newListing('frost-bad', { city: 'Frostville', latitude: 0, longitude: 0 }));
  const page = await app.open('/listings?q=frostville');
  await page.getByText('4 homes').waitFor();
  await expect.poll(() => page.locator('.map-pin').count()).toBe(3);
  await page.goto(`${app.url}/console/listings?q=frost-bad`);
  await page.getByText('1 home', { exact: true }).waitFor();
  await page.locator('.map-pin').waitFor();
});

test('homes at one address are shown in the list', async () => {
  for (const i of [1, 2, 3])
    await app.post('/listings', newListing(`tower-${i}`, { city: 'Towerville', latitude: 51.5, longitude: 7.5 }));
  const page = await app.open('/listings?q=towerville');
  await page.getByRole('button', { name: '3 here. Show them in the list' }).locator('.map-cluster').click();
  await page.getByRole('button', { name: 'Remove: In the chosen area' }).waitFor();
  await page.getByText('3 homes').waitFor();
});

test('near me finds listings, and a denied location is explained', async () => {
  const place = { latitude: 47.6, longitude: -110.2 };
  await app.post('/listings', newListing('near', { streetAddress: '7 Near Street', ...place }));
  const page = await app.open('/listings');
  await page.getByRole('button', { name: 'Near me' }).click();
  await page.getByText('does not tell where you are').waitFor();
  await page.context().grantPermissions(['geolocation']);
  await page.context().setGeolocation(place);
  await page.getByRole('button', { name: 'Near me' }).click();
  await page.getByRole('button', { name: 'Remove: Within 10 km' }).waitFor();
  await page.getByRole('link', { name: '7 Near Street' }).waitFor();
  await page.getByText('1 home', { exact: true }).waitFor();
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
