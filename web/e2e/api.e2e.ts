// API page: keys, operations and examples.
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';

const app = useConsole();

test('a key is created, shown once, works, and is refused once it is revoked', async () => {
  const page = await app.open('/api', { as: 'programmer' });
  page.monitor.allow(/400/);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Enter the name.').waitFor();
  await axe(page);
  await page.getByLabel('What it is for').fill('my laptop');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('it is not shown again').waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Copy key' }).click();
  const key = await page.evaluate(() => navigator.clipboard.readText());
  const saved = () => fetch(`${app.url}/stage/savedListings/programmer`, { headers: { 'x-api-key': key } });
  expect((await saved()).status).toBe(200);

  await page.getByRole('button', { name: 'I have copied it' }).click();
  expect(await page.content()).not.toContain(key);
  await page.getByRole('button', { name: 'Revoke my laptop' }).click();
  await page.getByText('Programs that use it are refused').waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByText('Revoked', { exact: true }).waitFor();
  expect((await saved()).status).toBe(401);
  await axe(page);
});

test('after revoking the console’s own key, signing in again creates another', async () => {
  const page = await app.open('/api', { as: 'careless' });
  page.monitor.allow(/401/);
  await page.getByText('This console', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Revoke Sandbox session' }).click();
  await page.getByText('This console uses the key itself').waitFor();
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByText('Revoked', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Saved' }).first().click();
  await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Nothing saved yet').waitFor();
});

test('operations can be searched by text and access, and show examples', async () => {
  const page = await app.open('/api?tab=operations');
  await page.getByText(/of \d+ operations/).waitFor();
  await page.getByLabel('Find an operation').fill('verify');
  await page.getByText('/verifyRentalRequirements').click();
  await page.getByText('Authorization: Bearer $PORTICO_TOKEN').waitFor();
  await page.getByText('Used once, and never stored').first().waitFor();
  await axe(page);
  expect(new URL(page.url()).searchParams.get('q')).toBe('verify');
  await page.getByRole('combobox', { name: 'Access' }).click();
  await page.getByRole('option', { name: 'Key', exact: true }).click();
  await page.getByText('No such operation').waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByText('/stage/listings', { exact: true }).waitFor();
  expect(await page.getByRole('link', { name: /Open the reference/ }).getAttribute('href')).toBe('/docs/');
});

test('examples never hold a secret', async () => {
  const page = await app.open('/api?tab=examples');
  await page.getByText('Your saved homes').waitFor();
  const stored = await page.evaluate(() => sessionStorage.getItem('portico.session') ?? '{}');
  const { token, apiKey } = JSON.parse(stored) as Record<string, string>;
  const shown = await page.content();
  expect([token, apiKey].every((secret) => secret && !shown.includes(secret))).toBe(true);
  await axe(page);
});
