// The download of one's own data, and printing.
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { applyFor, recordListing, verify } from './harness/applications';
import { newListing } from './harness/listings';

const app = useConsole(async (app) => {
  await recordListing(app, 'oak-1');
  await verify(app, 'ben', 'case-1');
  await applyFor(app, 'ben', 'oak-1');
  await app.post('/listings', newListing('bens-own', { userId: 'ben' }));
  await app.post('/stage/savedListings', { userId: 'ben', listingId: 'oak-1' }, await app.keyHeaders('ben'));
  await app.post('/v1/depin-device', { userId: 'ben', network: 'Helium', deviceIdentifier: 'bens-hotspot' });
  await app.post('/v1/depin-device', { userId: 'ada', network: 'Helium', deviceIdentifier: 'adas-hotspot' });
});

test('a person downloads everything about themselves, and no secret', async () => {
  const page = await app.open('/', { as: 'ben' });
  await page.getByRole('button', { name: /^Acting as/ }).click();
  await page.getByRole('menuitem', { name: 'Download my data' }).click();
  await page.getByRole('heading', { level: 1, name: 'My data' }).waitFor();
  await axe(page);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download', exact: true }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/^portico-my-data-\d{4}-\d\d-\d\d\.json$/);
  await page.getByText('The file is in your downloads.').waitFor();
  const text = await readFile(await file.path(), 'utf8');
  const data = JSON.parse(text) as Record<string, never[]>;
  expect(data).toMatchObject({
    userId: 'ben',
    applications: [{ listingId: 'oak-1', status: 'submitted', timeline: [{ status: 'submitted' }] }],
    listings: [{ listingId: 'bens-own', status: 'active' }],
    savedListings: { ids: ['oak-1'] },
    devices: [{ deviceIdentifier: 'bens-hotspot' }],
    verifications: [{ caseId: 'case-1' }],
    identities: [{ caseId: 'case-1' }],
    portfolios: [],
    requiredChecks: [],
  });
  expect(data.apiKeys?.length).toBeGreaterThan(0);
  const { apiKey, token } = await page.evaluate(
    () => JSON.parse(sessionStorage.getItem('portico.session') ?? '{}') as { apiKey: string; token: string },
  );
  for (const secret of [apiKey, token, '900-00-0720', 'income-85000', 'adas-hotspot'])
    expect(text).not.toContain(secret);
});

test.each(['en-US', 'es-MX'])('the page fits and is accessible in %s', async (locale) => {
  for (const width of [320, 1440]) {
    const page = await app.open('/my-data', { as: 'ben', locale, width });
    await axe(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }
});

test('a listing is printed without its map and its buttons', async () => {
  const page = await app.open('/listings/bens-own', { as: 'mia', theme: 'dark' });
  await page.getByRole('application', { name: 'Where the home is' }).waitFor();
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByText('$2,100.25').isVisible()).toBe(true);
  expect(await page.getByRole('application').isVisible()).toBe(false);
  expect(await page.getByRole('main').getByRole('button').filter({ visible: true }).count()).toBe(0);
  expect(await page.getByRole('navigation').filter({ visible: true }).count()).toBe(0);
});
