// The window in which somebody signed in with an issuer comes back to the console here.
export const CHANNEL = 'portico.sign-in';
export const REDIRECT = `${import.meta.env.BASE_URL}signed-in`;

export interface Answer {
  code?: string;
  state?: string;
  error?: string;
}

/** Hands the issuer's answer to the tab that asked, and closes. True if this is that window. */
export function finishSignIn(): boolean {
  if (window.location.pathname !== REDIRECT) return false;
  const answer: Answer = Object.fromEntries(new URLSearchParams(window.location.search));
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(answer);
  channel.close();
  window.close();
  return true;
}
