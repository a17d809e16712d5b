// OpenID Connect sign-in: authorization code flow with PKCE in a popup, so that the page keeps its form input.
// The server's Content-Security-Policy must name the issuer in connect-src.
import { m } from '../i18n';
import { parseClaims } from './claims';
import type { Config } from './config';
import { SIGN_IN_CHANNEL, REDIRECT_PATH, type AuthorizationResponse } from './signed-in';

export interface SignInResult {
  token: string;
  userId: string;
}

/** Call it from a click handler, otherwise the browser blocks the popup. */
export async function signInWithIssuer(config: Config): Promise<SignInResult> {
  const popup = window.open('about:blank', 'portico-sign-in', 'popup,width=480,height=720');
  if (!popup) throw new Error(m.shell_popup_refused());
  try {
    const endpoints = await discover(config.issuer ?? '');
    const [state, verifier] = [randomString(), randomString()];
    const redirect = window.location.origin + REDIRECT_PATH;
    const url = new URL(endpoints.authorization_endpoint);
    const params: Record<string, string | undefined> = {
      response_type: 'code',
      client_id: config.clientId,
      redirect_uri: redirect,
      scope: ['openid', config.scope].filter(Boolean).join(' '),
      audience: config.audience,
      state,
      code_challenge: await codeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(params)) if (value) url.searchParams.set(name, value);
    popup.location.href = url.href;
    const code = await waitForCode(popup, state);
    return await exchange(endpoints.token_endpoint, code, verifier, redirect, config.clientId ?? '');
  } finally {
    popup.close();
  }
}

async function discover(issuer: string): Promise<{ authorization_endpoint: string; token_endpoint: string }> {
  const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  if (!response.ok) throw new Error(m.shell_issuer_silent());
  return response.json();
}

function waitForCode(popup: Window, state: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const channel = new BroadcastChannel(SIGN_IN_CHANNEL);
    const closedTimer = setInterval(
      () => popup.closed && finish(() => reject(new Error(m.shell_sign_in_unfinished()))),
      500,
    );
    const finish = (then: () => void) => {
      clearInterval(closedTimer);
      channel.close();
      then();
    };
    channel.onmessage = ({ data }: MessageEvent<AuthorizationResponse>) => {
      // The response belongs to another tab.
      if (data.state !== state) return;
      const { code } = data;
      if (code) finish(() => resolve(code));
      else finish(() => reject(new Error(m.shell_issuer_refused())));
    };
  });
}

async function exchange(endpoint: string, code: string, verifier: string, redirect: string, clientId: string) {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: redirect,
    client_id: clientId,
  });
  const response = await fetch(endpoint, { method: 'POST', body });
  if (!response.ok) throw new Error(m.shell_issuer_refused());
  const { access_token } = (await response.json()) as { access_token: string };
  return { token: access_token, userId: parseClaims(access_token).sub };
}

function randomString(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

export async function codeChallenge(verifier: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');
}
