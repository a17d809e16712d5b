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
  const review = page.getByRole('dialog', { name: 'Record this on the chain?' });
  await review.getByText('$1,850.50 a month').waitFor();
  await review.getByText('12 Oak Street, Austin, TX 78701').waitFor();
  await axe(page);
  // Going back keeps the form.
  await review.getByRole('button', { name: 'Back' }).click();
  await review.waitFor({ state: 'detached' });
  expect(await page.getByLabel('Monthly rent').inputValue()).toBe('1,850.50');
  await page.getByRole('button', { name: 'List this home' }).click();
  await review.getByRole('button', { name: 'Record it' }).click();
  await page.getByText(/Mined in block/).waitFor();
  await axe(page);
  await page.reload();
  await page.getByText(/Mined in block/).waitFor();
  await page.getByRole('link', { name: 'See the listing' }).click();
  await page.getByText('Matches the chain').waitFor();
  await page.getByText('$1,850.50').waitFor();
});

test('all faults appear at their fields at once, and the input stays', async () => {
  const page = await app.open('/my-listings/new', { as: 'ada', width: 390, height: 844 });
  const input = {
    City: 'Austin',
    State: 'ZZ',
    'Postal code': '787O1',
    'Monthly rent': 'cheap',
    'Minimum credit': '620.5',
    'Minimum income': '50000',
    'Preferred income': '40000',
    Latitude: '30',
    'Link to a video': 'javascript:alert(1)',
  };
  for (const [label, text] of Object.entries(input)) await page.getByLabel(label).fill(text);
  await page.getByRole('button', { name: 'List this home' }).click();
  for (const fault of [
    'Enter the street.',
    'Enter a state, such as TX or Texas.',
    'Enter a postal code of five digits, such as 78701.',
    'Enter a number, such as 1,850.50.',
    'Enter a whole number.',
    'Preferred income must be at least the minimum.',
    'Enter both latitude and longitude, or neither.',
    'Enter a link that begins with https:// or http://.',
  ])
    await page.getByText(fault).waitFor();
  const invalidField = (label: string) => page.getByLabel(label).and(page.locator('[aria-invalid=true]'));
  for (const label of ['Street', 'State', 'Postal code', 'Monthly rent', 'Minimum credit', 'Link to a video'])
    await invalidField(label).waitFor();
  expect(await page.getByLabel('City').inputValue()).toBe('Austin');
  expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('addressStreet');
  await axe(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

const ADDRESS = { Street: '1 Elm', City: 'Austin', State: 'TX', 'Postal code': '78701' };

test('a duplicate id shows an error', async () => {
  await app.post('/listings', newListing('taken', { userId: 'ben' }));
  const page = await app.open('/my-listings/new', { as: 'ada' });
  page.monitor.allow(/409/);
  for (const [label, text] of Object.entries({ ...ADDRESS, 'Monthly rent': '900' }))
    await page.getByLabel(label).fill(text);
  await page.getByLabel('Listing id').fill('taken');
  await page.getByRole('button', { name: 'List this home' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Record it' }).click();
  await page.getByRole('alert').getByText('A listing with this id exists already').waitFor();
  await axe(page);
});

test('a rent of another language is asked about before it is recorded', async () => {
  const page = await app.open('/my-listings/new', { as: 'mia' });
  for (const [label, text] of Object.entries(ADDRESS)) await page.getByLabel(label).fill(text);
  const rent = page.getByRole('textbox', { name: 'Monthly rent' });
  await rent.fill('1.850,00');
  await page.getByLabel('Street').focus();
  await page.getByText('Do you mean 1,850?').waitFor();
  await rent.fill('2.450 $');
  await page.getByRole('button', { name: 'List this home' }).click();
  await page.getByText('Do you mean 2,450 or 2.45?').waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  await axe(page);
  await page.getByRole('group', { name: 'Monthly rent: which number?' }).getByRole('button', { name: '2,450' }).click();
  expect(await rent.inputValue()).toBe('2450');
  await page.getByRole('button', { name: 'List this home' }).click();
  await page.getByRole('dialog').getByText('$2,450.00 a month').waitFor();
  const listed = (await (await fetch(`${app.url}/listings?userId=mia`)).json()) as unknown[];
  expect(listed).toEqual([]);
});

test('a doubtful pin or postal code and a known address are questioned', async () => {
  await app.post('/listings', newListing('twin', { userId: 'ben', streetAddress: '7 Twin Road' }));
  const page = await app.open('/my-listings/new', { as: 'nora' });
  for (const [label, text] of Object.entries({ ...ADDRESS, Street: '7  twin road', 'Monthly rent': '900' }))
    await page.getByLabel(label).fill(text);
  const place = async (latitude: string, longitude: string) => {
    await page.getByLabel('Latitude').fill(latitude);
    await page.getByLabel('Longitude').fill(longitude);
    await page.getByRole('button', { name: 'List this home' }).click();
  };
  const review = page.getByRole('dialog', { name: 'Record this on the chain?' });
  await place('30.27', '97.74');
  await review.getByText('The pin is not in Texas.').waitFor();
  await review.getByRole('button', { name: 'Back' }).click();
  await place('25', '-90');
  await review.getByText('The pin is at sea.').waitFor();
  await review.getByText('There is a listing with this address already.').waitFor();
  expect(await review.getByRole('link', { name: 'See it' }).getAttribute('href')).toContain('/listings/twin');
  await axe(page);
  await review.getByRole('button', { name: 'Back' }).click();
  await page.getByLabel('Street').fill('8 Twin Road');
  await page.getByLabel('Postal code').fill('80202');
  await place('30.27', '-97.74');
  await review.getByText('The postal code 80202 belongs to Colorado, not to Texas.').waitFor();
  await review.getByText('The pin is not in Colorado, where the postal code 80202 is.').waitFor();
  await axe(page);
  await review.getByRole('button', { name: 'Back' }).click();
  await page.getByLabel('Postal code').fill('78701');
  await place('30.27', '-97.74');
  await review.getByText('8 Twin Road, Austin').waitFor();
  await page.waitForTimeout(500);
  expect(await review.getByRole('status').count()).toBe(0);
  // These are questions: the landlord decides.
  await review.getByRole('button', { name: 'Record it' }).click();
  await page.getByText(/Mined in block/).waitFor();
});

test('applicants are shown with their checks, and Back returns', async () => {
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
