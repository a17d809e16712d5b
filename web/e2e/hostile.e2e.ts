// User input is shown as text on every page and never becomes markup, a link or a script.
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { newListing } from './harness/listings';

const app = useConsole();
const SCRIPT = `"><img src=x onerror="window.hacked=1"><svg onload="window.hacked=1"><b class=evil>{{7*7}}</b>`;
const LINK = 'javascript:window.hacked=1//https://example.com';
const HOSTILE_USER = `eve <i class=evil>\${7*7}</i>`;
const HOSTILE_LANDLORD = `mallory <i class=evil>\${7*7}</i>`;

async function storeHostileData(): Promise<string[]> {
  const key = await app.keyHeaders(HOSTILE_USER);
  const where = {
    addressStreet: SCRIPT,
    addressCity: 'Austin',
    addressState: SCRIPT.slice(0, 99),
    addressPostal: SCRIPT,
  };
  const recorded = { id: 'evil', userId: HOSTILE_USER, ...where, monthlyPayment: 1, latitude: 30.2, longitude: -97.7 };
  const link = 'https://example.com/"><img src=x onerror=window.hacked=1>';
  await app.post('/stage/listings', { ...recorded, walkthroughLink: link }, key);
  const refused = fetch(`${app.url}/stage/listings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...key },
    body: JSON.stringify({ ...recorded, id: 'script-link', walkthroughLink: LINK }),
  });
  expect((await refused).status).toBe(400);
  await app.post(
    '/listings',
    newListing(SCRIPT, { userId: HOSTILE_USER, streetAddress: SCRIPT, city: SCRIPT.slice(0, 99) }),
  );
  for (const listingId of ['evil', SCRIPT])
    await app.post('/stage/savedListings', { userId: HOSTILE_USER, listingId }, key);
  const [user, landlord] = [await app.tokenHeaders(HOSTILE_USER), await app.tokenHeaders(HOSTILE_LANDLORD)];
  // Each of the two applies to a listing of the other one, who decides with a note.
  await app.post('/listings', newListing('lair', { userId: HOSTILE_LANDLORD, streetAddress: SCRIPT }));
  await app.post('/applications', { userId: HOSTILE_USER, listingIds: ['lair'] }, user);
  await app.post('/applications', { userId: HOSTILE_LANDLORD, listingIds: ['evil', SCRIPT] }, landlord);
  const decide = (applicant: string, id: string, headers: Record<string, string>) =>
    app.post(
      `/v1/applications/${encodeURIComponent(applicant)}/${id}/decision`,
      { decision: 'declined', basis: 'no_report', note: SCRIPT },
      headers,
    );
  await decide(HOSTILE_USER, 'lair', landlord);
  await decide(HOSTILE_LANDLORD, 'evil', user);
  const edited = await fetch(`${app.url}/v1/listings/evil`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', ...user },
    body: JSON.stringify({ description: SCRIPT }),
  });
  expect(edited.status).toBe(200);
  const applications = await fetch(`${app.url}/v1/users/${encodeURIComponent(HOSTILE_USER)}/applications`, {
    headers: user,
  });
  const [application] = (await applications.json()) as { id: string }[];
  const item = { protocolName: SCRIPT, protocolIdentifier: SCRIPT, allocationPercentage: 50 };
  const portfolio = { name: SCRIPT, description: SCRIPT, riskLevel: 'Moderate', protocolItems: [item] };
  const template = await app.post<{ predefinedPortfolioId: string }>('/v1/predefined-portfolio', portfolio);
  const own = {
    ...portfolio,
    userId: HOSTILE_USER,
    isCustom: true,
    basedOnPredefinedId: template.predefinedPortfolioId,
  };
  await app.post('/v1/user-portfolio', own);
  await app.post('/v1/depin-device', { userId: HOSTILE_USER, network: SCRIPT, deviceIdentifier: SCRIPT });
  await app.post('/v1/keys', { name: SCRIPT }, await app.tokenHeaders(HOSTILE_USER));
  const applicant = { FirstName: SCRIPT, LastName: 'Evicted', DateOfBirth: '1990-01-01', consentVersion: '2026-01' };
  const { verificationResults } = await app.post<{ verificationResults: { Id: string } }>(
    `/verifyRentalRequirements?caseId=${encodeURIComponent(SCRIPT)}`,
    applicant,
    await app.tokenHeaders(HOSTILE_USER),
  );
  return [
    '/',
    '/listings',
    `/listings?q=${encodeURIComponent('onerror')}`,
    '/listings/evil',
    `/listings/${encodeURIComponent(SCRIPT)}`,
    '/my-listings',
    '/my-listings/evil',
    '/my-listings/evil/edit',
    `/my-listings/${encodeURIComponent(SCRIPT)}`,
    '/saved',
    '/applications',
    `/applications/${application?.id}`,
    '/screening?tab=results',
    '/screening?tab=identifier',
    '/screening?tab=data',
    `/screening?client=${encodeURIComponent(SCRIPT)}`,
    `/screening?tab=identifier&id=${encodeURIComponent(SCRIPT)}`,
    `/screening/results/${verificationResults.Id}`,
    '/portfolios',
    '/devices',
    '/chain',
    `/chain/transactions/${encodeURIComponent(SCRIPT)}`,
    '/api',
    `/api?tab=operations&q=${encodeURIComponent(SCRIPT)}`,
    '/api?tab=examples',
    `/${encodeURIComponent(SCRIPT)}`,
  ];
}

test('hostile text stays text on every page', { timeout: 300_000 }, async () => {
  const paths = await storeHostileData();
  const page = await app.open('/', { as: HOSTILE_USER });
  page.on('dialog', () => expect.fail('a dialog was opened by hostile text'));
  for (const path of paths) {
    await page.goto(`${app.url}/console${path}`);
    await page.locator('h1').waitFor();
    await page.waitForTimeout(400);
    const found = await page.evaluate(() => ({
      hacked: 'hacked' in window,
      markup: document.querySelectorAll('.evil, img[src="x"], svg[onload], [onerror]').length,
      links: [...document.links].filter((link) => !/^(https?|mailto):$/.test(link.protocol)).map((link) => link.href),
    }));
    expect({ path, ...found }).toEqual({ path, hacked: false, markup: 0, links: [] });
  }
});

test('keys and results show hostile text as typed', async () => {
  const page = await app.open('/api', { as: HOSTILE_USER });
  await page.getByText(SCRIPT).first().waitFor();
  await axe(page);
  await page.goto(`${app.url}/console/screening?tab=identifier`);
  await page.getByRole('cell', { name: SCRIPT }).first().waitFor();
  await axe(page);
});
