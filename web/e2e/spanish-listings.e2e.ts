// The pages of landlords and applicants in Spanish.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useConsole, type OpenOptions } from './harness';
import { applyFor, recordListing, requireChecks, verify } from './harness/applications';
import { newListing } from './harness/listings';
import { expectSpanish } from './harness/spanish';

const TIMEOUT_MS = 300_000;

const app = useConsole(async (app) => {
  await requireChecks(app, 'ada', 'ada-homes', { EvictionCheck: true, IncomeCheck: true, SoftCreditCheck: true });
  await recordListing(app, 'oak-1', { latitude: 30.2672, longitude: -97.7431 });
  await app.post('/listings', newListing('plain-1', { streetAddress: '1 Plain Street', bathroomCount: 1 }));
  await verify(app, 'eve', 'oak-1', { LastName: 'Evicted' });
  for (const userId of ['eve', 'newt']) await applyFor(app, userId, 'oak-1');
});

const open = (path: string, as: string, options: OpenOptions = {}) =>
  app.open(path, { as, locale: 'es-MX', ...options });
const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

test('search', { timeout: TIMEOUT_MS }, async () => {
  const page = await open('/listings?minRent=100&maxRent=9000&near=30.2672,-97.7431', 'chloe');
  await page.getByText('2 viviendas', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Quitar: De USD 100 a USD 9,000' }).waitFor();
  await page.getByText('2 rec. · 1 baño').waitFor();
  await expectSpanish(page);
  await page.getByRole('button', { name: 'Filtros' }).click();
  await page.getByLabel('Distancia alrededor').waitFor();
  await expectSpanish(page);
  const none = await open('/listings?q=nothing', 'chloe');
  await none.getByRole('heading', { name: 'Ninguna vivienda coincide' }).waitFor();
  await expectSpanish(none);
});

test('a listing', { timeout: TIMEOUT_MS }, async () => {
  const page = await open('/listings/oak-1', 'chloe');
  await page.getByText('Coincide con la cadena').waitFor();
  await page.getByRole('heading', { name: 'Requisitos' }).waitFor();
  await page.getByRole('button', { name: 'Recalcularla en este navegador' }).click();
  await page.getByText('Su navegador obtuvo la misma huella').waitFor();
  await expectSpanish(page);
  await page.getByRole('button', { name: 'Presentar una solicitud' }).click();
  await page.getByRole('dialog', { name: '¿Presentar una solicitud para esta vivienda?' }).waitFor();
  await expectSpanish(page);

  const applied = await open('/listings/oak-1', 'newt');
  await applied.getByText(/^Presentó la solicitud /).waitFor();
  await expectSpanish(applied);
  const plain = await open('/listings/plain-1', 'ada');
  await plain.getByText('se anunció sin registro en la cadena').waitFor();
  await expectSpanish(plain);
  const unknown = await open('/listings/never-was', 'ada');
  await unknown.getByRole('heading', { name: 'Esta vivienda no está anunciada' }).waitFor();
  await expectSpanish(unknown);
});

test('own listings', { timeout: TIMEOUT_MS }, async () => {
  const empty = await open('/my-listings', 'chloe');
  await empty.getByRole('heading', { name: 'Todavía no ofrece ninguna vivienda' }).waitFor();
  await expectSpanish(empty);
  const page = await open('/my-listings', 'ada');
  await page.getByText('Usted ofrece 1 vivienda.').waitFor();
  await page.getByRole('link', { name: 'Solicitantes de oak-1 Street' }).waitFor();
  await expectSpanish(page);
  await page.getByRole('button', { name: 'Dar de baja oak-1 Street' }).click();
  await page.getByRole('dialog', { name: '¿Dar de baja este anuncio?' }).waitFor();
  await expectSpanish(page);
});

test('a new listing, its faults and its review', { timeout: TIMEOUT_MS }, async () => {
  const page = await open('/my-listings/new', 'chloe');
  const save = page.getByRole('button', { name: 'Anunciar esta vivienda' });
  await save.click();
  await page.locator('input[name=addressStreet][aria-invalid=true]').waitFor();
  await expectSpanish(page);
  const values = {
    addressStreet: '1 Elm',
    addressCity: 'Austin',
    addressState: 'TX',
    addressPostal: '78701',
    monthlyPayment: '1,850.50',
    minIncome: '50,000',
  };
  for (const [name, text] of Object.entries(values)) await page.locator(`input[name=${name}]`).fill(text);
  await save.click();
  const review = page.getByRole('dialog', { name: '¿Registrar esto en la cadena?' });
  await review.getByText(/1,850\.50 al mes/).waitFor();
  await review.getByText(/50,000\.00 al año/).waitFor();
  await expectSpanish(page);
  await review.getByRole('button', { name: 'Registrar', exact: true }).click();
  await page.getByText(/^Incluido en el bloque/).waitFor();
  await title(page, 'Su vivienda está anunciada');
  await expectSpanish(page);
});

test('an edited listing', { timeout: TIMEOUT_MS }, async () => {
  const page = await open('/my-listings/oak-1/edit', 'ada');
  await title(page, 'Editar el anuncio');
  await page.locator('input[name=monthlyRent]').fill('1,900.50');
  await expectSpanish(page);
  await page.getByRole('button', { name: 'Guardar los cambios' }).click();
  await page.getByRole('dialog', { name: '¿Guardar y registrar estos cambios?' }).waitFor();
  await expectSpanish(page);
  await page.getByRole('button', { name: 'Guardar y registrar' }).click();
  await page.getByRole('heading', { name: 'Solicitantes' }).waitFor();
});

test('applicants, a decision and its notice', { timeout: TIMEOUT_MS }, async () => {
  const page = await open('/my-listings/oak-1', 'ada');
  const eve = page.getByRole('article', { name: 'Solicitud de eve' });
  await eve.getByRole('button', { name: 'Rechazar: eve' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rechazar: eve' });
  await dialog.getByRole('radio', { name: 'Comprobaciones del informe' }).check();
  await dialog.getByRole('checkbox').first().check();
  await expectSpanish(page);
  await dialog.getByRole('button', { name: 'Rechazar', exact: true }).click();
  await eve.getByText('El solicitante recibió un aviso').waitFor();
  await expectSpanish(page);

  const applications = await open('/applications', 'eve');
  await applications.getByText('Presentó una solicitud para 1 vivienda.').waitFor();
  await applications.getByText(/^Presentada el /).waitFor();
  await expectSpanish(applications);
  await applications.getByRole('link', { name: 'oak-1 Street' }).click();
  await applications.getByRole('heading', { name: 'Aviso de decisión adversa' }).waitFor();
  await applications.getByText(/^Su solicitud para oak-1 Street fue rechazada\./).waitFor();
  await applications.getByRole('heading', { name: 'Cronología' }).waitFor();
  await expectSpanish(applications);
});

test('applications', { timeout: TIMEOUT_MS }, async () => {
  const empty = await open('/applications', 'chloe');
  await empty.getByRole('heading', { name: 'Todavía no hay solicitudes' }).waitFor();
  await expectSpanish(empty);
  const page = await open('/applications', 'newt');
  await page.getByText('Usted aún no se ha verificado').waitFor();
  await page.getByText(/^Falta comprobar: /).waitFor();
  await expectSpanish(page);
  await page.getByRole('link', { name: 'oak-1 Street' }).click();
  await page.getByRole('heading', { name: 'Lo que comparte' }).waitFor();
  await page
    .getByRole('link', { name: /^Verificar / })
    .first()
    .waitFor();
  expect(await page.getByRole('link', { name: /^Verificar / }).count()).toBe(3);
  await expectSpanish(page);
  await page.getByRole('button', { name: 'Dejar de compartir…' }).click();
  await page.getByRole('dialog', { name: '¿Dejar de compartir con este propietario?' }).waitFor();
  await expectSpanish(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Dejar de compartir', exact: true }).click();
  await page.getByText(/^Ya nada\. /).waitFor();
  await expectSpanish(page);
});

test('saved homes', { timeout: TIMEOUT_MS }, async () => {
  await app.post('/stage/savedListings', { userId: 'ben', listingId: 'oak-1' }, await app.keyHeaders('ben'));
  const page = await open('/saved', 'ben');
  await page.getByText('1 vivienda a la que quiere volver.').waitFor();
  await expectSpanish(page);
});
