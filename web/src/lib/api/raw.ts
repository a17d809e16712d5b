// Sends a request as the client's operations do, with the credential of the session, and returns the whole response.
import { client } from './generated/client.gen';

export function sendRaw(url: string, init: RequestInit): Promise<Response> {
  return (client.getConfig().fetch ?? globalThis.fetch)(new URL(url, window.location.origin), init);
}
