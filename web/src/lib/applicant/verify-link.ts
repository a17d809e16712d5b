// The way to a verification that is needed for a home, and from its result back to the home.
import { href } from '../router/router.svelte';

/** `clientId`: of the landlord, whose required checks then run. */
export function verifyLink(home?: { listingId: string; clientId?: string }): string {
  if (!home) return href('/screening');
  const { listingId, clientId } = home;
  return href('/screening', {}, { home: listingId, ...(clientId ? { client: clientId } : {}) });
}
