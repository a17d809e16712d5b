// Mock OpenID Connect issuer as Playwright routes: discovery, authorization page and a token endpoint that verifies PKCE.
import type { Page } from 'playwright-core';

export interface Issuer {
  url: string;
  /** Token requests that the issuer rejected. */
  refusals: string[];
  /** Authorization requests of the console. */
  asked: URLSearchParams[];
}

export interface IssuerOptions {
  /** The access token to return. */
  token: () => Promise<string>;
  /** Redirects with this error instead of a code. */
  error?: string;
  /** Shows a link to click instead of redirecting immediately. */
  interactive?: boolean;
}

export async function playIssuer(page: Page, url: string, options: IssuerOptions): Promise<Issuer> {
  const issuer: Issuer = { url, refusals: [], asked: [] };
  const codes = new Map<string, { challenge: string; redirect: string }>();
  await page.context().route(`${url}/**`, async (route) => {
    const at = new URL(route.request().url());
    if (at.pathname.endsWith('/openid-configuration')) {
      return route.fulfill({ json: { authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` } });
    }
    if (at.pathname.endsWith('/authorize')) {
      issuer.asked.push(at.searchParams);
      const redirect = at.searchParams.get('redirect_uri') ?? '';
      const code = crypto.randomUUID();
      codes.set(code, { challenge: at.searchParams.get('code_challenge') ?? '', redirect });
      const back = new URL(redirect);
      back.searchParams.set('state', at.searchParams.get('state') ?? '');
      back.searchParams.set(options.error ? 'error' : 'code', options.error ?? code);
      const link = back.href.replaceAll('&', '&amp;');
      const body = options.interactive
        ? `<a href="${link}">Let me in</a>`
        : `<meta http-equiv="refresh" content="0; url=${link}">`;
      return route.fulfill({ contentType: 'text/html', body });
    }
    const sent = new URLSearchParams(route.request().postData() ?? '');
    const known = codes.get(sent.get('code') ?? '');
    codes.delete(sent.get('code') ?? '');
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(sent.get('code_verifier') ?? ''));
    const fits = known?.challenge === Buffer.from(digest).toString('base64url');
    if (!fits || known.redirect !== sent.get('redirect_uri')) {
      issuer.refusals.push(sent.toString());
      return route.fulfill({ status: 400, json: { error: 'invalid_grant' } });
    }
    return route.fulfill({ json: { access_token: await options.token(), token_type: 'Bearer' } });
  });
  return issuer;
}
