// The redirect target of the OpenID Connect popup.
export const SIGN_IN_CHANNEL = 'portico.sign-in';
export const REDIRECT_PATH = `${import.meta.env.BASE_URL}signed-in`;

export interface AuthorizationResponse {
  code?: string;
  state?: string;
  error?: string;
}

/** In the popup: sends the issuer's response to the opening tab, closes the window and returns true. */
export function handleSignInRedirect(): boolean {
  if (window.location.pathname !== REDIRECT_PATH) return false;
  const response: AuthorizationResponse = Object.fromEntries(new URLSearchParams(window.location.search));
  const channel = new BroadcastChannel(SIGN_IN_CHANNEL);
  channel.postMessage(response);
  channel.close();
  window.close();
  return true;
}
