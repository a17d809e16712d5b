// OpenID Connect sign-in: authorization code flow with PKCE in a popup, so that the page keeps its form input.
// The server's Content-Security-Policy must name the issuer in connect-src.
import { claimsOf } from './claims';
import type { Config } from './config';
import { CHANNEL, REDIRECT, type Answer } from './signed-in';

export interface Tokens {
  token: string;
  userId: string;
}

/** Call it from a click handler, otherwise the browser blocks the popup. */
export async function signInWithIssuer(config: Config): Promise<Tokens> {
  const popup = window.open('about:blank', 'portico-sign-in', 'popup,width=480,height=720');
  if (!popup) throw new Error('The browser refused to open the sign-in window. Allow pop-ups for this page.');
  try {
    const endpoints = await discover(config.issuer ?? '');
    const [state, verifier] = [random(), random()];
    const redirect = window.location.origin + REDIRECT;
    const url = new URL(endpoints.authorization_endpoint);
    const params: Record<string, string | undefined> = {
      response_type: 'code',
      client_id: config.clientId,
      redirect_uri: redirect,
      scope: ['openid', config.scope].filter(Boolean).join(' '),
      audience: config.audience,
      state,
      code_challenge: await challengeOf(verifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(params)) if (value) url.searchParams.set(name, value);
    popup.location.href = url.href;
    const code = await answerOf(popup, state);
    return await exchange(endpoints.token_endpoint, code, verifier, redirect, config.clientId ?? '');
  } finally {
    popup.close();
  }
}

async function discover(issuer: string): Promise<{ authorization_endpoint: string; token_endpoint: string }> {
  const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  if (!response.ok) throw new Error('The sign-in service does not answer.');
  return response.json();
}

function answerOf(popup: Window, state: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const channel = new BroadcastChannel(CHANNEL);
    const closed = setInterval(() => popup.closed && finish(() => reject(new Error('Sign-in was not finished.'))), 500);
    const finish = (then: () => void) => {
      clearInterval(closed);
      channel.close();
      then();
    };
    channel.onmessage = ({ data }: MessageEvent<Answer>) => {
      // The response belongs to another tab.
      if (data.state !== state) return;
      const { code } = data;
      if (code) finish(() => resolve(code));
      else finish(() => reject(new Error('The sign-in service refused.')));
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
  if (!response.ok) throw new Error('The sign-in service refused.');
  const { access_token } = (await response.json()) as { access_token: string };
  return { token: access_token, userId: claimsOf(access_token).sub };
}

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

export async function challengeOf(verifier: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');
}
