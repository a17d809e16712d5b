// The fetch function of the API client: adds the credential and an idempotency key to POSTs, retries requests after a
// network error, and asks the user to sign in again after a 401.
import { headersFor, type Credentials } from './credentials';
import { ConnectionError, isAbort } from './problem';

export interface TransportDeps {
  credentials(path: string): Promise<Credentials | undefined>;
  /** Asks the user to sign in again; resolves to true once they have. */
  reauthenticate(): Promise<boolean>;
  onConnectionLost(): void;
  onConnectionRestored(): void;
  fetch(request: Request): Promise<Response>;
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Attempts of a write. Reads are retried until their page is left. */
const MAX_WRITE_ATTEMPTS = 6;
const MAX_RETRY_DELAY_MS = 8_000;

export function retryDelayMs(attempt: number): number {
  return Math.min(500 * 2 ** attempt, MAX_RETRY_DELAY_MS);
}

export function transport(deps: TransportDeps) {
  async function sendOnce(request: Request, path: string): Promise<Response> {
    const attempt = request.clone();
    const headers = headersFor(path, await deps.credentials(path));
    for (const [name, value] of Object.entries(headers)) attempt.headers.set(name, value);
    return deps.fetch(attempt);
  }

  async function sendWithRetry(request: Request, path: string): Promise<Response> {
    const isRead = request.method === 'GET';
    // A DELETE is not retried: if the first one succeeded, the second gets a 404.
    const maxAttempts = isRead ? Infinity : request.method === 'DELETE' ? 1 : MAX_WRITE_ATTEMPTS;
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await sendOnce(request, path);
        deps.onConnectionRestored();
        const delayMs = retryAfterMs(response);
        if (isRead && response.status === 503 && delayMs !== undefined && attempt < 3) {
          await deps.wait(delayMs, request.signal);
          continue;
        }
        return response;
      } catch (error) {
        if (isAbort(error) || !(error instanceof TypeError)) throw error;
        deps.onConnectionLost();
        if (attempt + 1 >= maxAttempts) throw new ConnectionError();
        await deps.wait(retryDelayMs(attempt), request.signal);
      }
    }
  }

  return async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const path = new URL(request.url).pathname;
    if (request.method === 'POST' && !request.headers.has('Idempotency-Key')) {
      request.headers.set('Idempotency-Key', crypto.randomUUID());
    }
    const response = await sendWithRetry(request, path);
    if (response.status === 401 && (await deps.reauthenticate())) return sendWithRetry(request, path);
    return response;
  };
}

function retryAfterMs(response: Response): number | undefined {
  const seconds = Number(response.headers.get('Retry-After'));
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1000, MAX_RETRY_DELAY_MS) : undefined;
}
