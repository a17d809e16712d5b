// Mock OpenID Connect issuer as Playwright routes: discovery, authorization page and a token endpoint that verifies PKCE.
import type { Page } from 'playwright-core';

export interface Issuer {
  url: string;
  /** Token requests that the issuer rejected. */
  rejectedRequests: string[];
  /** Authorization requests of the console. */
  authorizationRequests: URLSearchParams[];
}

export interface IssuerOptions {
  /** The access token to return. */
  token: () => Promise<string>;
  /** Redirects with this error instead of a code. */
  error?: string;
  /** Shows a link to click instead of redirecting immediately. */
  interactive?: boolean;
}

export async function mockIssuer(page: Page, url: string, options: IssuerOptions): Promise<Issuer> {
  const issuer: Issuer = { url, rejectedRequests: [], authorizationRequests: [] };
  const codes = new Map<string, { challenge: string; redirect: string }>();
  await page.context().route(`${url}/**`, async (route) => {
    const requestUrl = new URL(route.request().url());
    if (requestUrl.pathname.endsWith('/openid-configuration')) {
      return route.fulfill({ json: { authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` } });
    }
    if (requestUrl.pathname.endsWith('/authorize')) {
      issuer.authorizationRequests.push(requestUrl.searchParams);
      const redirect = requestUrl.searchParams.get('redirect_uri') ?? '';
      const code = crypto.randomUUID();
      codes.set(code, { challenge: requestUrl.searchParams.get('code_challenge') ?? '', redirect });
      const redirectUrl = new URL(redirect);
      redirectUrl.searchParams.set('state', requestUrl.searchParams.get('state') ?? '');
      redirectUrl.searchParams.set(options.error ? 'error' : 'code', options.error ?? code);
      const redirectHref = redirectUrl.href.replaceAll('&', '&amp;');
      const body = options.interactive
        ? `<a href="${redirectHref}">Let me in</a>`
        : `<meta http-equiv="refresh" content="0; url=${redirectHref}">`;
      return route.fulfill({ contentType: 'text/html', body });
    }
    const tokenRequest = new URLSearchParams(route.request().postData() ?? '');
    const issued = codes.get(tokenRequest.get('code') ?? '');
    codes.delete(tokenRequest.get('code') ?? '');
    const digest = await crypto.subtle.digest(
      'SHA-256',
      new TextEncoder().encode(tokenRequest.get('code_verifier') ?? ''),
    );
    const isVerified = issued?.challenge === Buffer.from(digest).toString('base64url');
    if (!isVerified || issued.redirect !== tokenRequest.get('redirect_uri')) {
      issuer.rejectedRequests.push(tokenRequest.toString());
      return route.fulfill({ status: 400, json: { error: 'invalid_grant' } });
    }
    return route.fulfill({ json: { access_token: await options.token(), token_type: 'Bearer' } });
  });
  return issuer;
}
