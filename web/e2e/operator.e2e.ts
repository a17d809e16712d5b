// What operators see: the home page, the audit log, all keys, the configuration.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { axe, useConsole } from './harness';

const app = useConsole();
const HOSTILE = '<script>alert(1)</script>';
const LONG = 'x'.repeat(255);
const PAGES = ['/', '/operator/audit', '/operator/users?user=ada', '/operator/keys', '/operator/configuration'];

/** A rejected item, as the service tells it. */
const REJECTED = {
  waiting: 3,
  signed: 1,
  failed: 2,
  waitingByContract: [{ contract: 'IdentityToken', items: 3, since: new Date(Date.now() - 300_000).toISOString() }],
  transactions: [
    {
      signer: `0x${'a1'.repeat(20)}`,
      nonce: 7,
      contract: 'ListingRegistry',
      items: 1,
      status: 'signed',
      hash: `0x${'b2'.repeat(32)}`,
      attempts: 3,
      since: new Date(Date.now() - 60_000).toISOString(),
    },
  ],
  failedItems: [
    {
      contract: 'ListingRegistry',
      key: `0x${'c3'.repeat(32)}`,
      version: 2,
      isDeletion: false,
      since: new Date(Date.now() - 7_200_000).toISOString(),
    },
    {
      contract: 'ApplicationChecks',
      key: `0x${'d4'.repeat(32)}`,
      version: 5,
      isDeletion: true,
      since: new Date(Date.now() - 7_200_000).toISOString(),
    },
  ],
};
const EMPTY = { waiting: 0, signed: 0, failed: 0, waitingByContract: [], transactions: [], failedItems: [] };

async function makeKey(name: string, userId = 'ada'): Promise<void> {
  await app.post('/v1/keys', { name }, await app.tokenHeaders(userId));
}

/** No part of the page is wider than the window. */
async function fits(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
}

test('the home page shows queue, bureaus and the audit log', async () => {
  const page = await app.open('/', { as: 'operator' });
  await page.getByRole('heading', { name: 'Queue for the chain' }).waitFor();
  await page.getByText('Everything is on the chain. Nothing waits, and nothing was rejected.').waitFor();
  const bureaus = page.getByRole('listitem').filter({ hasText: 'Criminal background' });
  await bureaus.getByText('Works').waitFor();
  await page.getByRole('link', { name: 'Open the log' }).click();
  await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
});

test('rejected items are queued again', async () => {
  let isRetried = false;
  const page = await app.open('/saved', { as: 'operator' });
  await page.route('**/v1/chain/queue', (route) => route.fulfill({ json: isRetried ? EMPTY : REJECTED }));
  await page.route('**/v1/chain/queue/retry', (route) => {
    isRetried = true;
    return route.fulfill({ json: { message: 'Queued again', items: 2 } });
  });
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Home' }).click();
  await page.getByRole('heading', { name: '2 items were rejected' }).waitFor();
  await page.getByText('Application checks (deletion)').waitFor();
  await page.getByText('Identity tokens: 3, the oldest since 5 minutes ago').waitFor();
  await page.getByText('signed 3 times').waitFor();
  await axe(page);
  await page.setViewportSize({ width: 320, height: 800 });
  await fits(page);
  await axe(page);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('2 items are queued again.').waitFor();
  await page.getByText('Everything is on the chain.').waitFor();
});

test('the log is verified, and a fault is told in words', async () => {
  await makeKey('verified');
  const page = await app.open('/operator/audit', { as: 'operator' });
  await page.getByText('This server has not verified the log since its start.').waitFor();
  await page.getByRole('button', { name: 'Verify the log' }).click();
  await page.getByText(/^None of \d+ entries was altered\. Verified/).waitFor();
  await axe(page);
  const faults = [
    { code: 'altered', entry: 1234, text: 'entry 1234 was altered' },
    { code: 'brand_new', text: HOSTILE },
  ];
  await page.route('**/v1/audit/verification', async (route) => {
    const json = (await (await route.fetch()).json()) as { latest: object };
    await route.fulfill({ json: { ...json, isAltered: true, latest: { ...json.latest, faultCount: 2, faults } } });
  });
  await page.getByRole('button', { name: 'Verify the log' }).click();
  await page.getByText('Entry 1,234 was altered, or the one before it, or another instance wrote it.').waitFor();
  await page.getByText(/^2 faults were found/).waitFor();
  await page.getByText(HOSTILE).waitFor();
  await axe(page);
});

test('entries are filtered, the filter is in the address, and Back undoes it', async () => {
  await makeKey('filtered', 'chloe');
  const page = await app.open('/operator/audit', { as: 'operator' });
  const table = page.getByRole('table', { name: 'Entries' });
  await table.getByText('audit.read').first().waitFor();
  await page.getByLabel('Who', { exact: true }).fill('user chloe');
  await page.getByLabel('Action begins with').fill('key.');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await table.getByRole('cell', { name: 'User chloe' }).first().waitFor();
  await expect.poll(() => table.getByText('audit.read').count()).toBe(0);
  expect(new URL(page.url()).searchParams.get('actor')).toBe('user chloe');
  await page.getByLabel('Who', { exact: true }).fill(HOSTILE);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('heading', { name: 'No entry matches' }).waitFor();
  await page.goBack();
  await table.getByRole('cell', { name: 'User chloe' }).first().waitFor();
  expect(await page.getByLabel('Who', { exact: true }).inputValue()).toBe('user chloe');
  await page.getByRole('button', { name: 'Clear' }).click();
  await table.getByText('audit.read').first().waitFor();
});

test('further entries are loaded on request', async () => {
  const headers = await app.tokenHeaders('dev');
  for (let number = 0; number < 55; number += 1) await app.post('/v1/keys', { name: `key ${number}` }, headers);
  const page = await app.open('/operator/audit?actor=user%20dev', { as: 'operator' });
  const rows = page.getByRole('table', { name: 'Entries' }).getByRole('row');
  await rows.nth(50).waitFor();
  expect(await rows.count()).toBe(51);
  await page.getByRole('button', { name: 'Show more' }).click();
  await rows.nth(55).waitFor();
  expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
});

test('any key is revoked, after a question', async () => {
  await makeKey(HOSTILE, 'ben');
  await makeKey(LONG, 'ben');
  const page = await app.open('/operator/keys', { as: 'operator' });
  const row = page.getByRole('row').filter({ hasText: HOSTILE });
  await row.getByText('User ben').waitFor();
  await page.setViewportSize({ width: 320, height: 800 });
  await fits(page);
  await axe(page);
  await row.getByRole('button', { name: `Revoke ${HOSTILE}` }).click();
  await page.getByRole('dialog').getByText('Programs that use it are refused from then on.').waitFor();
  await axe(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
  await page.getByText(`“${HOSTILE}” is revoked.`).waitFor();
  await row.getByText('Revoked', { exact: true }).waitFor();
  expect(await row.getByRole('button').count()).toBe(0);
});

test('keys are listed by whose they are, and Back undoes it', async () => {
  await makeKey('of a user', 'chloe');
  const page = await app.open('/operator/keys', { as: 'operator' });
  const row = page.getByRole('row').filter({ hasText: 'of a user' });
  await row.waitFor();
  await page.getByRole('combobox', { name: 'Whose keys' }).click();
  await page.getByRole('option', { name: 'Operators’ keys' }).click();
  await page.getByRole('heading', { name: 'Operators’ keys' }).waitFor();
  await expect.poll(() => row.count()).toBe(0);
  await page.goBack();
  await row.waitFor();
});

test('a user is looked up, and erased after their id was typed', async () => {
  await makeKey('of somebody', 'erased');
  const body = { FirstName: 'Ada', LastName: 'Lovelace', consentVersion: '2026-01', DateOfBirth: '1990-12-10' };
  await app.post('/verifyRentalRequirements', { ...body, SSN: '900-00-0720' }, await app.tokenHeaders('erased'));
  const page = await app.open('/operator/users', { as: 'operator' });
  await page.getByRole('heading', { name: 'Nobody is looked up' }).waitFor();
  await page.getByLabel('User id').fill('who is this?');
  await page.getByRole('button', { name: 'Look up' }).click();
  await page.getByText('There is nothing of this user.').waitFor();
  await page.getByLabel('User id').fill(' erased ');
  await page.getByRole('button', { name: 'Look up' }).click();
  await page.getByRole('heading', { name: 'User erased' }).waitFor();
  await page.getByText('Kept, sealed with a key of theirs').waitFor();
  await page.getByText('Portico stores no roles.').waitFor();
  expect(await page.locator('dl > div').filter({ hasText: 'Valid keys' }).textContent()).toMatch(
    /^Valid keys\s*[1-9]\s*$/,
  );
  const row = page.getByRole('table', { name: 'Keys of erased' }).getByRole('row').filter({ hasText: 'of somebody' });
  await row.getByText('Valid').waitFor();
  await page.getByRole('button', { name: 'Erase…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Erase the personal data of erased?' });
  await dialog.getByLabel('User id').fill('ben');
  await dialog.getByRole('button', { name: 'Erase for good' }).click();
  await dialog.getByText('Type erased to confirm').first().waitFor();
  await axe(page);
  await dialog.getByLabel('User id').fill('erased');
  await dialog.getByRole('button', { name: 'Erase for good' }).click();
  await page.getByText('The personal data of erased is erased.').waitFor();
  await row.getByText('Revoked').waitFor();
  await page.getByText('Kept, sealed with a key of theirs').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'What was done to them' }).click();
  await page.getByRole('table', { name: 'Entries' }).getByText('person.erased').waitFor();
  await page.goBack();
  await page.goBack();
  expect(await page.getByLabel('User id').inputValue()).toBe('who is this?');
});

test('the configuration shows sources, and hides what has its default', async () => {
  const page = await app.open('/operator/configuration', { as: 'operator' });
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) });
  await row('listen').getByText('Command line').waitFor();
  await row('rate_limit').getByText('Default').waitFor();
  await page.getByText('Only what was set').click();
  await expect.poll(() => row('rate_limit').count()).toBe(0);
  await row('listen').waitFor();
  await page.reload();
  await row('listen').waitFor();
  expect(await row('rate_limit').count()).toBe(0);
});

test('others have no operator pages, and nothing is requested for them', async () => {
  const page = await app.open('/saved', { as: 'ben' });
  const navigation = page.getByRole('navigation', { name: 'Main' });
  await navigation.getByRole('link', { name: 'Listings', exact: true }).waitFor();
  expect(await navigation.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  for (const path of PAGES.slice(1)) {
    await page.goto(`${app.url}/console${path}`);
    await page.getByRole('heading', { name: 'For operators' }).waitFor();
  }
  await axe(page);
  expect(requests.filter((path) => /^\/v1\/(audit|users|keys|configuration|chain\/queue)/.test(path))).toEqual([]);
});

test('every page is accessible in both themes, languages and widths', { timeout: 240_000 }, async () => {
  const titles: Record<string, RegExp> = {
    en: /^This service|Audit log|Users|All keys|Configuration$/,
    es: /^Este servicio|Registro de auditoría|Usuarios|Todas las claves|Configuración$/,
  };
  for (const [language, locale] of [
    ['en', 'en-US'],
    ['es', 'es-MX'],
  ] as const) {
    for (const path of PAGES) {
      const page = await app.open(path, { as: 'operator', locale });
      await page.getByRole('heading', { level: 1, name: titles[language] }).waitFor();
      await expect.poll(() => page.locator('main [role=region], main dl').count()).toBeGreaterThan(0);
      for (const width of [1440, 320]) {
        await page.setViewportSize({ width, height: 900 });
        await fits(page);
        await axe(page);
      }
    }
  }
});
