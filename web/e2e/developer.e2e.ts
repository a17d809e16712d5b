// What developers use: palette and shortcuts, decoded transactions, addresses, trying operations, their home page.
import { expect, test } from 'vitest';
import { axe, useConsole, type OpenPage } from './harness';
import { applyFor, verify } from './harness/applications';

const app = useConsole();

async function record(id: string): Promise<string> {
  const where = { addressStreet: '1 Oak Street', addressCity: 'Austin', addressState: 'TX', addressPostal: '78701' };
  const terms = { minCredit: 620, prefCredit: 700, minIncome: 55000, prefIncome: 70000 };
  const body = { id, userId: 'ada', ...where, ...terms, monthlyPayment: 2100 };
  const headers = await app.keyHeaders('ada');
  return (await app.post<{ transactionHash: string }>('/stage/listings', body, headers)).transactionHash;
}

const widthOf = (page: OpenPage) => page.evaluate(() => document.documentElement.scrollWidth);
const palette = (page: OpenPage) => page.getByRole('combobox', { name: /^Page, action/ });

test('the palette opens pages, actions and listings, by keyboard alone', async () => {
  await record('by-palette');
  const page = await app.open('/listings');
  await page.locator('h1').focus();
  await page.keyboard.press('Control+k');
  await palette(page).waitFor();
  await axe(page);
  await page.keyboard.type('portf');
  await page.getByRole('option', { name: 'Portfolios', exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Portfolios' }).waitFor();

  await page.getByRole('button', { name: 'Search or go to…' }).click();
  await palette(page).fill('by-palette');
  await page.getByRole('option', { name: 'Listing by-palette' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Transaction' }).waitFor();

  await page.keyboard.press('Control+k');
  await palette(page).fill('no-such-home');
  await page.getByRole('option', { name: 'Transaction that recorded no-such-home' }).click();
  await page.getByText('There is no listing “no-such-home”.').waitFor();
  await axe(page);
  await page.keyboard.press('Escape');
  await palette(page).waitFor({ state: 'detached' });
});

test('shortcuts open pages and their list, and do nothing while somebody types', async () => {
  const page = await app.open('/api?tab=operations');
  const search = page.getByLabel('Find an operation');
  await search.focus();
  await page.keyboard.type('g?l');
  await page.keyboard.press('Control+k');
  await page.waitForTimeout(300);
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(await search.inputValue()).toBe('g?l');
  await page.locator('h1').focus();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await axe(page);
  // Not behind a dialog either.
  await page.keyboard.press('Control+k');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await page.getByRole('heading', { level: 1, name: 'Chain' }).waitFor();
});

test('a transaction is decoded, with its logs and a link to the listing that was looked for', async () => {
  const hash = await record('decoded-one');
  // Without the chain's JSON-RPC, as in live.
  const page = await app.open(`/chain/transactions/${hash}`, { as: 'stranger', config: { profile: 'sandbox' } });
  await page.getByText('record(Item[] items)').waitFor();
  await page.getByText('in cents: 55,000').first().waitFor();
  await page.getByText('Recorded(bytes32 indexed key, uint64 version, bytes32 digest)').waitFor();
  await axe(page);
  // The key alone does not tell which listing it is.
  expect(await page.getByRole('link', { name: 'Listing decoded-one' }).count()).toBe(0);
  await page.goto(`${app.url}/console/chain`);
  await page.getByLabel(/^Find a block/).fill('decoded-one');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Listing decoded-one' }).first().click();
  await page.getByRole('heading', { level: 1, name: '1 Oak Street' }).waitFor();
  // One's own listings are recognised without it.
  const own = await app.open(`/chain/transactions/${hash}`, { as: 'ada' });
  await own.getByRole('link', { name: 'Listing decoded-one' }).first().waitFor();
});

test('an application is linked for its applicant and for the owner of the listing, and for nobody else', async () => {
  await record('applied-to');
  await verify(app, 'chloe', 'applied-to');
  await applyFor(app, 'chloe', 'applied-to');
  const headers = await app.tokenHeaders('chloe');
  const recorded = async () => {
    const response = await fetch(`${app.url}/v1/applications/chloe/applied-to/records`, { headers });
    return ((await response.json()) as { status: string; transactionHash?: string }[])[0];
  };
  await expect.poll(async () => (await recorded())?.status).toBe('mined');
  const path = `/chain/transactions/${(await recorded())?.transactionHash}`;

  const applicant = await app.open(path, { as: 'chloe' });
  const own = applicant.getByRole('link', { name: 'Your application to applied-to' });
  await own.first().waitFor();
  // In the call and in the log.
  expect(await own.count()).toBe(2);
  await axe(applicant);
  await own.first().click();
  await applicant.getByText('Minimum credit: met').waitFor();
  expect(new URL(applicant.url()).pathname).toMatch(/^\/console\/applications\/./);

  const landlord = await app.open(path, { as: 'ada' });
  await landlord.getByRole('link', { name: 'Application of chloe to applied-to' }).first().click();
  await landlord.waitForURL('**/console/my-listings/applied-to');
  await landlord.getByRole('heading', { level: 1, name: '1 Oak Street' }).waitFor();

  const stranger = await app.open(path, { as: 'stranger' });
  await stranger.getByText('record(Item[] items)').waitFor();
  await stranger.waitForLoadState('networkidle');
  expect(
    await stranger
      .getByRole('link', { name: /application/i })
      .filter({ hasText: 'applied-to' })
      .count(),
  ).toBe(0);
});

test('contracts and accounts have pages of their own', async () => {
  const hash = await record('for-address');
  const page = await app.open('/chain');
  await page.getByRole('link', { name: 'Listing registry' }).click();
  await page.getByRole('heading', { level: 1, name: 'Listing registry' }).waitFor();
  await page.getByText('requirementsOf(bytes32 key)').waitFor();
  await page.getByTitle(hash).waitFor();
  await page.getByText('Those of this service that this address signed').waitFor();
  await axe(page);
  const { signers } = (await (await fetch(`${app.url}/v1/chain/status`)).json()) as { signers: { address: string }[] };
  const signer = signers[0]?.address ?? '';
  await page.goto(`${app.url}/console/chain`);
  await page.getByLabel(/^Find a block/).fill(signer);
  await page.keyboard.press('Enter');
  await page.getByText('Signs for this service').waitFor();
  await page.getByTitle(hash).waitFor();
  await axe(page);
  await page.goto(`${app.url}/console/chain/addresses/0x${'12'.repeat(20)}`);
  await page.getByText('This service has sent none from or to this address.').waitFor();
  await axe(page);
  await page.goto(`${app.url}/console/chain/addresses/0x12`);
  await page.getByText('An address is 0x and 40 digits.').waitFor();
});

test('more transactions of a contract are loaded on request', async () => {
  const [older, newer] = [await record('older'), await record('newer')];
  const { contracts } = (await (await fetch(`${app.url}/v1/chain/status`)).json()) as {
    contracts: Record<string, string>;
  };
  const page = await app.open('/chain');
  // Pages of one, because the test would need more than fifty.
  await page.route(/\/v1\/chain\/transactions\?/, (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('limit', '1');
    return route.continue({ url: url.href });
  });
  await page.goto(`${app.url}/console/chain/addresses/${contracts.listingRegistry}`);
  await page.getByTitle(newer).waitFor();
  expect(await page.getByTitle(older).count()).toBe(0);
  await page.getByRole('button', { name: 'Load more' }).click();
  await page.getByTitle(older).waitFor();
  await page.getByTitle(newer).waitFor();
  await axe(page);
});

test('an operation is tried with the session, and a write is confirmed first', async () => {
  const page = await app.open('/api?tab=operations&q=registerDevice', { as: 'tester' });
  page.monitor.allow(/400/);
  await page.getByText('/v1/depin-device', { exact: true }).click();
  await page.getByLabel('Body', { exact: true }).fill('{');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('This is not valid JSON').waitFor();
  await axe(page);
  await page
    .getByLabel('Body', { exact: true })
    .fill('{"userId":"tester","network":"Helium","deviceIdentifier":"tried-1"}');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Send this POST request?' });
  await dialog.waitFor();
  const devices = async () =>
    (await fetch(`${app.url}/v1/depin-devices/user/tester`, { headers: await app.tokenHeaders('tester') })).json();
  expect(await devices()).toEqual([]);
  await axe(page);
  await dialog.getByRole('button', { name: 'Send it' }).click();
  await page.getByText('201').first().waitFor();
  await expect.poll(devices).toHaveLength(1);
  await axe(page);
});

test('a response never shows a secret', async () => {
  const page = await app.open('/api?tab=operations&q=createKey', { as: 'secretive' });
  await page.getByText('/v1/keys', { exact: true }).click();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('button', { name: 'Send it' }).click();
  const body = page.getByRole('region', { name: 'Body of the response' });
  await body.waitFor();
  expect(await body.innerText()).toContain('"apiKey": "••••••••"');
  const stored = await page.evaluate(() => sessionStorage.getItem('portico.session') ?? '{}');
  const { token, apiKey } = JSON.parse(stored) as Record<string, string>;
  const shown = await page.content();
  expect([token, apiKey].every((secret) => secret && !shown.includes(secret))).toBe(true);
});

test('samples are in three languages', async () => {
  const page = await app.open('/api?tab=operations&q=createKey', { as: 'tester' });
  await page.getByText('/v1/keys', { exact: true }).click();
  await page.getByText('-H "Authorization: Bearer $PORTICO_TOKEN"').waitFor();
  await page.getByRole('button', { name: 'Python' }).click();
  await page.getByText('requests.post(').waitFor();
  await page.getByRole('button', { name: 'JavaScript' }).click();
  await page.getByText('await fetch(').waitFor();
  await axe(page);
});

test('a key says for whom it is, when it expires and when it was last used', async () => {
  const page = await app.open('/api', { as: 'keeper' });
  await page.getByLabel('What it is for').fill('short-lived');
  await page.getByRole('combobox', { name: 'Expires' }).click();
  await page.getByRole('option', { name: 'After 30 days' }).click();
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('it is not shown again').waitFor();
  const row = page.getByRole('listitem').filter({ hasText: 'short-lived' });
  await row.getByText('for you alone').waitFor();
  await row.getByText(/never used/).waitFor();
  await row.getByText(/expires on/).waitFor();
  await axe(page);
});

test('leaving the form for a key asks, and its draft is there on return', async () => {
  const page = await app.open('/api', { as: 'hesitant' });
  const name = page.getByLabel('What it is for');
  const leave = () => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Devices' }).click();
  const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
  await name.fill('half-typed');
  await leave();
  await dialog.waitFor();
  await axe(page);
  await dialog.getByRole('button', { name: 'Keep the draft' }).click();
  await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
  await page.goBack();
  await page.getByText('What you typed before is here again.').waitFor();
  expect(await name.inputValue()).toBe('half-typed');
  await axe(page);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('it is not shown again').waitFor();
  // Nothing is unsaved any more.
  await leave();
  await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
});

test('the developer’s home page shows keys, the chain and what was tried', async () => {
  const page = await app.open('/', { as: 'devon' });
  await page.getByLabel('Show the home page of:').selectOption({ label: 'Developer' });
  await page.getByText('Open an operation of the API reference and send it.').waitFor();
  await page.getByText('Part of this service').waitFor();
  await axe(page);
  await page.getByRole('link', { name: 'Try an operation' }).click();
  await page.getByLabel('Find an operation').fill('isAlive');
  await page.getByText('/healthz', { exact: true }).click();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('200').first().waitFor();
  await page.getByRole('link', { name: 'Portico, home page' }).first().click();
  await page.getByText('GET /healthz').waitFor();
  await axe(page);
});

test('everything fits and is in Spanish too', { timeout: 300_000 }, async () => {
  const hash = await record('ancho');
  const { contracts } = (await (await fetch(`${app.url}/v1/chain/status`)).json()) as {
    contracts: Record<string, string>;
  };
  for (const width of [320, 1440]) {
    const page = await app.open(`/chain/transactions/${hash}`, { width, locale: 'es-MX' });
    await page.getByText('record(Item[] items)').waitFor();
    expect(await widthOf(page)).toBeLessThanOrEqual(width);
    await axe(page);
    await page.goto(`${app.url}/console/chain/addresses/${contracts.identityToken}`);
    await page.getByText('Funciones que leen').waitFor();
    expect(await widthOf(page)).toBeLessThanOrEqual(width);
    await axe(page);
    await page.goto(`${app.url}/console/api`);
    await page.getByText('solo para usted').first().waitFor();
    expect(await widthOf(page)).toBeLessThanOrEqual(width);
    await axe(page);
    await page.goto(`${app.url}/console/api?tab=operations&q=createKey`);
    await page.getByText('/v1/keys', { exact: true }).click();
    await page.getByRole('button', { name: 'Enviar', exact: true }).waitFor();
    expect(await widthOf(page)).toBeLessThanOrEqual(width);
    await axe(page);
    await page.locator('h1').focus();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Ir a cualquier parte' }).waitFor();
    expect(await widthOf(page)).toBeLessThanOrEqual(width);
    await axe(page);
  }
});
