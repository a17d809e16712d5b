// Screening with the sandbox bureaus: verification, results, required checks and tokens.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { expectSpanish } from './harness/spanish';

const app = useConsole();

async function fillForm(page: Page, hint: string) {
  await page.getByRole('button', { name: hint }).click();
  await page.getByRole('checkbox').check();
}

test('a good applicant verifies, and sees outcome, figures and token', async () => {
  const page = await app.open('/screening', { as: 'ben' });
  await page.getByText('Needs first name, last name, and date of birth').first().waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('Give your consent: without it nobody may be asked.').waitFor();
  await page.getByText('The chain gets a token: a random number').waitFor();
  await axe(page);

  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  await page.route('**/verifyRentalRequirements*', async (route) => {
    await held;
    await route.continue();
  });
  await fillForm(page, 'Good applicant');
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('Asking the bureaus…').waitFor();
  await axe(page);
  release();
  await page.getByText('Every check that ran was passed.').waitFor();
  expect(await page.getByText('Passed', { exact: true }).count()).toBe(4);
  await page.getByText('$85,000').waitFor();
  await page.getByRole('button', { name: 'Copy holder’s address' }).waitFor();
  await page.getByText('Version 2026-01').waitFor();
  await axe(page);

  // After a reload the figures are not in memory and must be requested.
  await page.reload();
  await page.getByRole('button', { name: 'Show the figures' }).click();
  await page.getByText('$85,000').waitFor();
  await page.getByRole('link', { name: 'Results' }).click();
  await page.getByText('All checks passed').waitFor();
  await axe(page);
});

test('with a name alone nothing is checked, and the form says what is needed', async () => {
  const page = await app.open('/screening', { as: 'warren' });
  page.monitor.allow(/400/);
  await page.getByLabel('First name').fill('Warren');
  await page.getByLabel('Last name').fill('Buffett');
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('Nothing can be checked yet.').waitFor();
  await axe(page);
});

test('a failed check shows its adverse action notice', async () => {
  const page = await app.open('/screening', { as: 'low' });
  await fillForm(page, 'Low score');
  await fillForm(page, 'Evicted');
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('Not every check was passed.').waitFor();
  await page.getByText('Reason: the credit score is below the threshold.').waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Copy the notice: Credit' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('a credit score below the threshold');
});

test('after a bureau failure the form can be submitted again', async () => {
  const page = await app.open('/screening', { as: 'down' });
  page.monitor.allow(/503/);
  await fillForm(page, 'Bureau down');
  const cases: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname === '/verifyRentalRequirements') cases.push(url.searchParams.get('caseId') ?? '');
  });
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('A bureau does not answer at the moment.').waitFor();
  await page.getByText(/wait \d s/).waitFor();
  await axe(page);
  expect(await page.getByLabel('First name').inputValue()).toBe('Grace');
  await page.getByLabel('Last name').fill('Hopper');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Every check that ran was passed.').waitFor();
  expect(new Set(cases).size).toBe(1);
});

test('API errors appear at their fields', async () => {
  const page = await app.open('/screening', { as: 'faulty' });
  page.monitor.allow(/40[04]/);
  await page.getByLabel('First name').fill('Grace');
  await page.getByLabel('Social security number', { exact: true }).fill('12');
  await page.getByLabel('E-mail').fill('nowhere');
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('Enter a social security number, such as 123-45-6789.').waitFor();
  await page.getByText('Enter an e-mail address').waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Good applicant' }).click();
  await page.getByText('Landlord, case and wallet').click();
  await page.getByLabel('Landlord’s client id').fill('nobodys');
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('No landlord has this client id.').waitFor();
  await page.getByLabel('Landlord’s client id').fill('');
  await page.getByLabel('My own wallet').check();
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('Enter an address of 0x and 40 digits').waitFor();
  await axe(page);
});

test('required checks are chosen and undone, and an applicant is invited', async () => {
  const page = await app.open('/screening', { as: 'landlord' });
  page.monitor.allow(/409/);
  await page.getByRole('tab', { name: 'Required checks' }).click();
  await page.getByText('No required checks yet').waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Choose required checks' }).click();
  const income = page.getByRole('switch', { name: 'Income' });
  expect(await income.getAttribute('aria-checked')).toBe('true');
  await income.click();
  await page.getByText('Income is no longer required.').waitFor();
  // Immediately, because the toast disappears.
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Put back.').waitFor();
  expect(await income.getAttribute('aria-checked')).toBe('true');
  await income.click();
  await page.getByText('Income is no longer required.').last().waitFor();
  await axe(page);

  await fetch(`${app.url}/verificationPipeline`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(await app.tokenHeaders('rival')) },
    body: JSON.stringify({ ClientId: 'taken' }),
  });
  await page.getByLabel('Client id').fill('taken');
  await page.getByLabel('Client id').press('Enter');
  await page.getByText(/another account/).waitFor();
  await axe(page);
  await page.getByLabel('Client id').fill('acme');
  await page.getByLabel('Client id').press('Tab');
  await page.getByText('Client id saved.').waitFor();
  await page.reload();
  expect(await income.getAttribute('aria-checked')).toBe('false');
  await page.getByRole('button', { name: 'Copy invitation' }).click();
  const invitation = await page.evaluate(() => navigator.clipboard.readText());

  const applicant = await app.open(invitation.replace(`${app.url}/console`, ''), { as: 'invited' });
  await applicant.getByText('the checks that the landlord requires will run').waitFor();
  await fillForm(applicant, 'Good applicant');
  await applicant.getByRole('button', { name: 'Verify', exact: true }).click();
  await applicant.getByText('Every check that ran was passed.').waitFor();
  await applicant.getByText('Not checked').first().waitFor();
  expect(await applicant.getByText('Passed', { exact: true }).count()).toBe(3);
});

test('a landlord verifies an applicant by id and names, until it is revoked', async () => {
  const page = await app.open('/screening', { as: 'grace' });
  await fillForm(page, 'Good applicant');
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByRole('button', { name: 'Copy link for the landlord' }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());

  const landlord = await app.open(link.replace(`${app.url}/console`, ''), { as: 'ada' });
  landlord.monitor.allow(/404.*\/chainIdentityInd/);
  const validate = landlord.getByRole('button', { name: 'Verify', exact: true });
  await landlord.getByLabel('First name').fill(' grace ');
  await landlord.getByLabel('Last name').fill('Murray');
  await validate.click();
  await landlord.getByText('No match').waitFor();
  await landlord.getByLabel('Last name').fill('HOPPER');
  await validate.click();
  await landlord.getByText('Both names belong to this result').waitFor();
  await axe(landlord);

  await page.getByRole('button', { name: 'Revoke…' }).click();
  await page.getByRole('dialog').waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByText('Nobody any more').waitFor();
  await validate.click();
  await landlord.getByText('No match').waitFor();
});

test('a case names the browser’s wallet, and its token can be revoked', async () => {
  const page = await app.open('/', { as: 'wanda' });
  page.monitor.allow(/409/);
  const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
  await page.addInitScript((account) => {
    const request = async ({ method }: { method: string }) => (method === 'eth_requestAccounts' ? [account] : null);
    (window as never as { ethereum: object }).ethereum = { request, on() {}, removeListener() {} };
  }, address);
  await page.goto(`${app.url}/console/screening?tab=identifier`);
  await page.getByText('No tokens yet').waitFor();
  await axe(page);
  await page.getByLabel('Case').fill('unit 4');
  await page.getByLabel('My own wallet').check();
  await page.getByRole('button', { name: 'Use the browser’s wallet' }).click();
  await expect.poll(() => page.getByLabel('Wallet address').inputValue()).toBe(address);
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('The token of the case is').waitFor();
  await page.getByRole('button', { name: 'Revoke the token of unit 4' }).waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Revoke the token of unit 4' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByText('The token is revoked.').waitFor();
  await page.getByRole('cell', { name: 'Revoked' }).waitFor();
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('The token of this case was revoked. Choose another case.').waitFor();
});

test('personal data is erased after the user types their id', async () => {
  const page = await app.open('/screening', { as: 'gone' });
  await fillForm(page, 'Good applicant');
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('Every check that ran was passed.').waitFor();
  await page.goto(`${app.url}/console/screening?tab=data`);
  await page.getByRole('button', { name: 'Erase my personal data…' }).click();
  await page.getByRole('button', { name: 'Erase for good' }).click();
  await page.getByText('Type gone to confirm.').nth(1).waitFor();
  await axe(page);
  await page.getByLabel('Your user id').fill('gone');
  await page.getByLabel('Your user id').press('Enter');
  await page.getByText('No results yet').waitFor();
  await axe(page);
});

test('every page is in Spanish', { timeout: 180_000 }, async () => {
  const page = await app.open('/screening', { as: 'ines', locale: 'es-MX' });
  page.monitor.allow(/404.*\/chainIdentityInd/);
  await page.getByText('Requiere nombre, apellido y fecha de nacimiento').first().waitFor();
  await page.getByText('Propietario, caso y billetera').click();
  await page.getByLabel('Mi propia billetera').check();
  await page.getByRole('button', { name: 'Verificar', exact: true }).click();
  await page.getByText('Dé su consentimiento').waitFor();
  await page.getByText('Escriba una dirección de 0x y 40 dígitos').waitFor();
  await expectSpanish(page);
  await page.getByLabel('Guárdenlo por mí').check();
  await fillForm(page, 'Con desalojo');
  await page.getByRole('button', { name: 'Verificar', exact: true }).click();
  await page.getByText('No todas las comprobaciones fueron aprobadas.').waitFor();
  await page.getByText('Este titular está registrado').waitFor();
  await page.getByText(/85,000/).waitFor();
  await expectSpanish(page);
  await page.getByRole('button', { name: 'Revocar…' }).click();
  await page.getByRole('dialog', { name: '¿Revocar este token?' }).waitFor();
  await expectSpanish(page);
  await page.goto(`${app.url}/console/screening?tab=results`);
  await page.getByText('No aprobada: desalojo').waitFor();
  await expectSpanish(page);
  await page.goto(`${app.url}/console/screening?tab=pipeline`);
  await page.getByText('Todavía no hay comprobaciones requeridas').waitFor();
  await expectSpanish(page);
  await page.getByRole('button', { name: 'Elegir comprobaciones requeridas' }).click();
  await page.getByLabel('Identificador de cliente').fill('casas');
  await page.getByLabel('Identificador de cliente').press('Tab');
  await page.getByRole('button', { name: 'Copiar la invitación' }).waitFor();
  await expectSpanish(page);
  await page.goto(`${app.url}/console/screening?tab=identifier`);
  await page.getByRole('cell', { name: 'Válido' }).waitFor();
  await page.getByLabel('Identificador del resultado').fill('1');
  await page.getByLabel('Nombre', { exact: true }).fill('Grace');
  await page.getByLabel('Apellido').fill('Hopper');
  await page.getByRole('button', { name: 'Verificar', exact: true }).click();
  await page.getByText('No coincide').waitFor();
  await expectSpanish(page);
  await page.goto(`${app.url}/console/screening?tab=data`);
  await page.getByRole('button', { name: 'Borrar mis datos personales…' }).click();
  await page.getByRole('dialog', { name: '¿Borrar sus datos personales?' }).waitFor();
  await expectSpanish(page);
});
