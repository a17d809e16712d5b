// The language of the console.
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { newListing } from './harness/listings';

const app = useConsole();

test('the language is that of the browser, and numbers follow it', async () => {
  await app.post('/listings', newListing('lang-1', { streetAddress: '1 Language Street' }));
  await app.post('/stage/savedListings', { userId: 'ben', listingId: 'lang-1' }, await app.keyHeaders('ben'));
  const page = await app.open('/saved', { as: 'ben', locale: 'es-ES' });
  await page.getByRole('heading', { name: 'Guardados', level: 1 }).waitFor();
  await page.getByText('1 vivienda a la que quiere volver.').waitFor();
  await page.getByText(/2100,25\sUS\$/).waitFor();
  expect(await page.getAttribute('html', 'lang')).toBe('es');
  await axe(page);

  const german = await app.open('/saved', { as: 'ben', locale: 'de-DE' });
  await german.getByRole('heading', { name: 'Saved', level: 1 }).waitFor();
  await german.getByText('$2,100.25').waitFor();
  expect(await german.getAttribute('html', 'lang')).toBe('en');
});

test('the language is chosen in the menu, and kept', async () => {
  const page = await app.open('/saved', { as: 'chloe' });
  await page.getByRole('button', { name: /Acting as/ }).click();
  const spanish = page.getByRole('menuitemradio', { name: 'Español' });
  await spanish.waitFor();
  await axe(page);
  await spanish.click();
  await page.getByRole('heading', { name: 'Todavía no hay nada guardado' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Todavía no hay nada guardado' }).waitFor();
  await page.getByLabel('Idioma').selectOption('English');
  await page.getByRole('heading', { name: 'Nothing saved yet' }).waitFor();
});

test('choosing a language asks about unsaved values, and the draft survives', async () => {
  const page = await app.open('/my-listings/new', { as: 'ada' });
  await page.getByLabel('Street').fill('7 Draft Street');
  await page.getByLabel('Language').selectOption('Español');
  await page.getByRole('button', { name: 'Stay' }).click();
  expect(await page.getByLabel('Language').inputValue()).toBe('en');
  await page.getByLabel('Language').selectOption('Español');
  await page.getByRole('button', { name: 'Keep the draft' }).click();
  await page.getByLabel('Idioma').waitFor();
  const fields = page.locator('main input');
  await fields.first().waitFor();
  expect(await fields.evaluateAll((all) => all.map((input) => (input as HTMLInputElement).value))).toContain(
    '7 Draft Street',
  );
});

test('a Spanish page reads numbers as it shows them', async () => {
  const page = await app.open('/my-listings/new', { as: 'jonas', locale: 'es-ES' });
  const values = {
    addressStreet: '1 Elm',
    addressCity: 'Austin',
    addressState: 'TX',
    addressPostal: '78701',
    monthlyPayment: '1.850,00',
    minIncome: '50.000',
  };
  for (const [name, text] of Object.entries(values)) await page.locator(`input[name=${name}]`).fill(text);
  await page.locator('main form button[type=submit]').click();
  const review = page.getByRole('dialog');
  await review.getByText(/^1850,00\sUS\$/).waitFor();
  await review.getByText(/^50\.000,00\sUS\$/).waitFor();
  await review.getByRole('button').last().click();
  const listings = async () =>
    (await fetch(`${app.url}/listings?userId=jonas`)).json() as Promise<{ listingId: string }[]>;
  await expect.poll(listings, { timeout: 60_000 }).toMatchObject([{ monthlyRent: 1850 }]);
  const [listing] = await listings();
  const edit = await app.open(`/my-listings/${listing?.listingId}/edit`, { as: 'jonas', locale: 'es-ES' });
  await expect.poll(() => edit.locator('input[name=monthlyRent]').inputValue(), { timeout: 60_000 }).toBe('1850');
});
