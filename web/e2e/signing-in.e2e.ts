// Signing in where the profile is live: with an issuer, or with a key. The issuer is played by the test.
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';

const app = useConsole();

test('an issuer signs in by PKCE, and the person gets a key of their own for /stage', async () => {
  const { token } = await app.post<{ token: string }>('/v1/sandbox/sessions', { userId: 'zoe' });
  const issuer = `${app.url}/issuer`;
  const page = await app.open('/saved', { config: { profile: 'live', issuer, clientId: 'console' } });
  let challenge = '';
  await page.context().route('**/issuer/**', async (route) => {
    const url = new URL(route.request().url());
    if (url.pathname.endsWith('/openid-configuration')) {
      await route.fulfill({
        json: { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
      });
    } else if (url.pathname.endsWith('/authorize')) {
      challenge = url.searchParams.get('code_challenge') ?? '';
      const back = `${url.searchParams.get('redirect_uri')}?code=c0de&state=${url.searchParams.get('state')}`;
      await route.fulfill({ contentType: 'text/html', body: `<meta http-equiv="refresh" content="0; url=${back}">` });
    } else {
      const sent = new URLSearchParams(route.request().postData() ?? '');
      expect(sent.get('code')).toBe('c0de');
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(sent.get('code_verifier') ?? ''));
      expect(Buffer.from(digest).toString('base64url')).toBe(challenge);
      await route.fulfill({ json: { access_token: token, token_type: 'Bearer' } });
    }
  });

  await page.getByText('This page is about your own things').waitFor();
  await axe(page);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('dialog').waitFor();
  await axe(page);
  await page.getByRole('button', { name: /Sign in with/ }).click();
  await page.getByText('Nothing saved yet').waitFor();
  await page.getByRole('button', { name: 'Acting as zoe' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByText('This page is about your own things').waitFor();
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
});

test('an operator signs in with a key', async () => {
  const { 'x-api-key': key } = (await app.keyOf('zoe')) as { 'x-api-key': string };
  const page = await app.open('/saved', { config: { profile: 'live' } });
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Use the key' }).click();
  await page.getByText('Paste a key.').waitFor();
  await page.getByLabel('API key').fill(key);
  await page.getByLabel('Show things of user').fill('zoe');
  await page.getByRole('button', { name: 'Use the key' }).click();
  await page.getByText('Nothing saved yet').waitFor();
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(key);
});
