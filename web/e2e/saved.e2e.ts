import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { newListing } from './harness/listings';

const app = useConsole();

async function save(userId: string, listingId: string) {
  await app.post('/stage/savedListings', { userId, listingId }, await app.keyHeaders(userId));
}

test('without saved listings the page explains how to start', async () => {
  const page = await app.open('/saved', { as: 'chloe' });
  await page.getByText('Nothing saved yet').waitFor();
  await axe(page);
});

test('a saved listing can be removed, and restored with undo', async () => {
  await app.post('/listings', newListing('oak-12', { streetAddress: '12 Oak Street' }));
  await save('ada', 'oak-12');
  await save('ada', 'long-gone');
  const page = await app.open('/saved');
  await page.getByText('$2,100.25').waitFor();
  await page.getByText('No longer listed').waitFor();
  await axe(page);

  await page.getByRole('button', { name: 'Take 12 Oak Street off your list' }).click();
  await page.getByRole('link', { name: '12 Oak Street' }).waitFor({ state: 'detached' });
  // Hovering keeps the toast open.
  await page.getByRole('button', { name: 'Undo' }).hover();
  await axe(page);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('link', { name: '12 Oak Street' }).click();
  expect(new URL(page.url()).pathname).toBe('/console/listings/oak-12');
});

test('acting as another user shows their list', async () => {
  await save('dev', 'devs-listing');
  const page = await app.open('/saved', { as: 'chloe' });
  await page.getByRole('button', { name: /Acting as Chloe/ }).click();
  await page.getByRole('menuitem', { name: /Dev Raman/ }).waitFor();
  await axe(page);
  await page.getByRole('menuitem', { name: /Dev Raman/ }).click();
  await page.getByText('devs-listing').waitFor();
});

test('hostile text of a listing stays text', async () => {
  const script = `<img src=x onerror="document.title='hacked'"><b>bold</b>`;
  await app.post('/listings', newListing('evil', { streetAddress: script, city: '{{7*7}}' }));
  await save('ben', 'evil');
  const page = await app.open('/saved', { as: 'ben' });
  await page.getByRole('link', { name: script }).waitFor();
  expect(await page.title()).toBe('Saved · Portico');
  expect(await page.locator('main img').count()).toBe(0);
});

test('an expired session asks to sign in and continues', async () => {
  const page = await app.open('/saved', { as: 'chloe' });
  page.monitor.allow(/401/);
  await page.evaluate(() => {
    const stored = JSON.parse(sessionStorage.getItem('portico.session') ?? '{}');
    sessionStorage.setItem('portico.session', JSON.stringify({ ...stored, apiKey: 'test_0000000000000000_x' }));
  });
  await page.reload();
  await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Nothing saved yet').waitFor();
});

test('a lost connection is shown and retried', async () => {
  const page = await app.open('/', { as: 'chloe' });
  page.monitor.allow(/ERR_FAILED/);
  await page.route('**/stage/**', (route) => route.abort());
  await page.getByRole('link', { name: 'Saved' }).first().click();
  await page.getByText('The connection to the service is lost').waitFor();
  await page.unroute('**/stage/**');
  await page.getByText('Nothing saved yet').waitFor();
  await page.getByText('The connection to the service is lost').waitFor({ state: 'detached' });
});
