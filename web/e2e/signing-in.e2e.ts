// Sign-in: as any user in the sandbox; with an issuer or an API key in the live profile.
import { expect, test } from 'vitest';
import { axe, useConsole, type OpenPage } from './harness';
import { mockIssuer } from './harness/issuer';

const app = useConsole();
const issuerUrl = () => `${app.url}/issuer`;
const liveConfig = () => ({ profile: 'live', issuer: issuerUrl(), clientId: 'console', scope: 'profile' });
const bearerToken = async (userId: string) =>
  (await app.tokenHeaders(userId)).authorization?.slice('Bearer '.length) ?? '';

async function signIn(page: OpenPage) {
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('dialog').waitFor();
}

test('signing in with an issuer uses PKCE and creates a key for /stage', async () => {
  const page = await app.open('/saved', { config: liveConfig() });
  const issuer = await mockIssuer(page, issuerUrl(), { token: () => bearerToken('zoe') });
  await page.getByText('This page shows your own data').waitFor();
  await axe(page);
  await signIn(page);
  await axe(page);
  await page.getByRole('button', { name: /Sign in with/ }).click();
  await page.getByText('Nothing saved yet').waitFor();
  expect(issuer.rejectedRequests).toEqual([]);
  const [request] = issuer.authorizationRequests;
  expect(request?.get('response_type')).toBe('code');
  expect(request?.get('code_challenge_method')).toBe('S256');
  expect(request?.get('scope')).toBe('openid profile');
  expect(request?.get('redirect_uri')).toBe(`${app.url}/console/signed-in`);

  // No secret is kept beyond the tab, and signing out revokes the key.
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(await bearerToken('zoe'));
  await page.getByRole('button', { name: 'Acting as zoe' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByText('This page shows your own data').waitFor();
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
});

test('an issuer error and a closed popup show a message', async () => {
  const page = await app.open('/saved', { config: liveConfig() });
  await mockIssuer(page, issuerUrl(), { token: () => bearerToken('zoe'), error: 'access_denied' });
  const openWindow = async () => {
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: /Sign in with/ }).click();
    return opened;
  };
  await signIn(page);
  const refused = await openWindow();
  await page.getByText('The sign-in service refused.').waitFor();
  // An open popup would be reused.
  if (!refused.isClosed()) await refused.waitForEvent('close');
  await axe(page);

  await page.context().unroute(`${issuerUrl()}/**`);
  await mockIssuer(page, issuerUrl(), { token: () => bearerToken('zoe'), interactive: true });
  const window = await openWindow();
  await window.getByText('Let me in').waitFor();
  await window.close();
  await page.getByText('Sign-in was not finished.').waitFor();
});

test('an expired token asks to sign in again and keeps the form input', async () => {
  const page = await app.open('/screening', { config: liveConfig() });
  page.monitor.allow(/401/);
  await mockIssuer(page, issuerUrl(), { token: () => bearerToken('zoe') });
  await signIn(page);
  await page.getByRole('button', { name: /Sign in with/ }).click();
  await page.getByLabel('First name').fill('Zoë');
  await page.locator('input[name=OpenBankingToken]').fill('income-85000');
  await page.getByRole('checkbox').check();
  await page.route(
    '**/verifyRentalRequirements*',
    (route) => route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer e30.e30.old' } }),
    { times: 1 },
  );
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
  expect(await page.locator('input[name=FirstName]').inputValue()).toBe('Zoë');
  await page.getByRole('button', { name: /Sign in with/ }).click();
  await page.getByText('Every check that ran was passed.').waitFor();
});

test('an operator signs in with a key and sees what requires a person', async () => {
  const { 'x-api-key': key } = (await app.keyHeaders('zoe')) as { 'x-api-key': string };
  const page = await app.open('/saved', { config: { profile: 'live' } });
  await signIn(page);
  await page.getByRole('button', { name: 'Use the key' }).click();
  await page.getByText('Paste a key.').waitFor();
  await page.getByLabel('API key').fill(key);
  await page.getByLabel('Show things of user').fill('zoe');
  await page.getByRole('button', { name: 'Use the key' }).click();
  await page.getByText('Nothing saved yet').waitFor();
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(key);
  await page.goto(`${app.url}/console/screening`);
  await page.getByText('An API key is not a person').waitFor();
  await axe(page);
  await page.getByRole('tab', { name: 'Verify an applicant' }).click();
  await page.getByText('revoke any token by its number').waitFor();
  await page.goto(`${app.url}/console/api`);
  await page.getByText('Keys belong to people').waitFor();
});

test('in the sandbox any user id can be chosen and is remembered', async () => {
  const page = await app.open('/api', { as: 'ada' });
  await page.getByRole('button', { name: /Acting as Ada/ }).click();
  await page.getByRole('menuitem', { name: 'Somebody else…' }).click();
  await page.getByLabel('User id').fill('newcomer');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Acting as newcomer' }).waitFor();
  expect(await page.evaluate(() => localStorage.getItem('portico.acting-as'))).toBe('newcomer');
});

test('an administrator token can manage templates, others cannot', async () => {
  const page = await app.open('/portfolios', { config: liveConfig() });
  await mockIssuer(page, issuerUrl(), { token: () => app.adminToken('root') });
  await page.getByRole('button', { name: 'Sign in' }).first().click();
  await page.getByRole('button', { name: /Sign in with/ }).click();
  await page.getByRole('link', { name: 'New template' }).click();
  await page.getByLabel('Name').fill('By an administrator');
  await page.getByRole('combobox', { name: 'Risk' }).click();
  await page.getByRole('option', { name: 'Moderate', exact: true }).click();
  const row = page.getByRole('group', { name: 'Protocol 1', exact: true });
  await row.getByLabel('Protocol', { exact: true }).fill('Helium');
  await page.getByRole('button', { name: 'Use remaining 100% for Helium' }).click();
  await page.getByRole('button', { name: 'Offer the template' }).click();
  await page.getByRole('button', { name: 'Deactivate By an administrator' }).click();
  await page.getByRole('tab', { name: 'Inactive' }).click();
  await page.getByRole('button', { name: 'Restore By an administrator' }).click();
  await page.getByRole('heading', { name: 'All templates are offered' }).waitFor();
  await axe(page);

  const other = await app.open('/portfolios', { config: liveConfig() });
  await mockIssuer(other, issuerUrl(), { token: () => bearerToken('zoe') });
  await other.getByRole('button', { name: 'Sign in' }).first().click();
  await other.getByRole('button', { name: /Sign in with/ }).click();
  await other.getByRole('link', { name: 'By an administrator', exact: true }).waitFor();
  expect(await other.getByRole('link', { name: 'New template' }).count()).toBe(0);
});
