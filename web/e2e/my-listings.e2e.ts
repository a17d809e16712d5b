import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { newListing } from './harness/listings';

const app = useConsole();

test('a new user creates a listing and watches it reach the chain', async () => {
  const page = await app.open('/my-listings', { as: 'ada' });
  await page.getByRole('heading', { name: 'You offer no home yet' }).waitFor();
  await axe(page);
  await page.getByRole('link', { name: 'List a home' }).click();
  await page.getByLabel('Street').fill('12 Oak Street');
  await page.getByLabel('City').fill('Austin');
  await page.getByLabel('State').fill('TX');
  await page.getByLabel('Postal code').fill('78701');
  await page.getByLabel('Monthly rent').fill('1,850.50');
  await page.getByLabel('Minimum credit').fill('620');
  await page.getByRole('application', { name: 'Place of the home' }).click({ position: { x: 200, y: 150 } });
  await page.locator('.map-pin.chosen').waitFor();
  expect(await page.getByLabel('Latitude').inputValue()).toMatch(/^\d+\.\d+$/);
  await axe(page);
  await page.getByRole('button', { name: 'List this home' }).click();
  await page.getByText(/Mined in block/).waitFor();
  await axe(page);
  await page.reload();
  await page.getByText(/Mined in block/).waitFor();
  await page.getByRole('link', { name: 'See the listing' }).click();
  await page.getByText('Matches the chain').waitFor();
  await page.getByText('$1,850.50').waitFor();
});

test('API errors appear at their fields, and the input stays', async () => {
  const page = await app.open('/my-listings/new', { as: 'ada', width: 390, height: 844 });
  page.monitor.allow(/400/);
  await page.getByLabel('City').fill('Austin');
  await page.getByLabel('Monthly rent').fill('cheap');
  await page.getByRole('button', { name: 'List this home' }).click();
  await page.getByText('Must be a number.').waitFor();
  await page.getByLabel('Monthly rent').fill('-5');
  await page.getByLabel('Minimum credit').fill('620.5');
  await page.getByLabel('Minimum income').fill('50000');
  await page.getByLabel('Preferred income').fill('40000');
  await page.getByLabel('Latitude').fill('30');
  await page.getByLabel('Link to a video').fill('javascript:alert(1)');
  await page.getByRole('button', { name: 'List this home' }).click();
  const invalidField = (label: string) => page.getByLabel(label).and(page.locator('[aria-invalid=true]'));
  for (const label of ['Street', 'State', 'Postal code', 'Monthly rent', 'Minimum credit', 'Link to a video'])
    await invalidField(label).waitFor();
  await page.getByText('Must be an http or https URL.').waitFor();
  expect(await page.getByLabel('City').inputValue()).toBe('Austin');
  expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('addressStreet');
  await axe(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test('a duplicate id shows an error', async () => {
  await app.post('/listings', newListing('taken', { userId: 'ben' }));
  const page = await app.open('/my-listings/new', { as: 'ada' });
  page.monitor.allow(/409/);
  const fields = { Street: '1 Elm', City: 'Austin', State: 'TX', 'Postal code': '78701', 'Monthly rent': '900' };
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label).fill(text);
  await page.getByLabel('Listing id').fill('taken');
  await page.getByRole('button', { name: 'List this home' }).click();
  await page.getByRole('alert').getByText('A listing with this id exists already').waitFor();
  await axe(page);
});

test('applicants are shown with what was checked, and the back button returns to the listings', async () => {
  const hostile = '<b>Mallory</b>';
  await app.post('/listings', newListing('flat-1', { userId: 'chloe', streetAddress: '1 Flat Road' }));
  for (const userId of ['ben', hostile])
    await app.post(`/applications/${encodeURIComponent(userId)}/flat-1/check`, { userId, listingIds: ['flat-1'] });
  const page = await app.open('/my-listings', { as: 'chloe' });
  await page.getByRole('link', { name: 'Applicants of 1 Flat Road' }).click();
  await page.getByRole('heading', { name: 'Applicants' }).waitFor();
  await page.getByRole('article', { name: 'Application of ben' }).waitFor();
  await page.getByText(hostile, { exact: true }).waitFor();
  expect(await page.getByText('The listing asks for no score and no income.').count()).toBe(2);
  expect(await page.getByText('The landlord requires no check.').count()).toBe(2);
  await axe(page);
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'My listings' }).waitFor();
});

test('a listing is retired after a confirmation', async () => {
  await app.post('/listings', newListing('old-1', { userId: 'dev', streetAddress: '1 Old Road' }));
  const page = await app.open('/my-listings', { as: 'dev' });
  await page.getByRole('button', { name: 'Retire 1 Old Road' }).click();
  await page.getByRole('dialog', { name: 'Retire this listing?' }).waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('link', { name: '1 Old Road', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Retire 1 Old Road' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Retire', exact: true }).click();
  await page.getByRole('heading', { name: 'You offer no home yet' }).waitFor();
});
