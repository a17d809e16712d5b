// The redirect target of the OpenID Connect popup.
export const CHANNEL = 'portico.sign-in';
export const REDIRECT = `${import.meta.env.BASE_URL}signed-in`;

export interface Answer {
  code?: string;
  state?: string;
  error?: string;
}

/** In the popup: sends the issuer's response to the opening tab, closes the window and returns true. */
export function finishSignIn(): boolean {
  if (window.location.pathname !== REDIRECT) return false;
  const answer: Answer = Object.fromEntries(new URLSearchParams(window.location.search));
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(answer);
  channel.close();
  window.close();
  return true;
}
