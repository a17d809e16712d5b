// The fetch function of the API client: adds the credential and an idempotency key to POSTs, retries requests for some
// seconds after a network error, and asks the user to sign in again after a 401.
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

/** Then the user is told, and pages load again once the service is back. */
const MAX_ATTEMPTS = 5;
const MAX_RETRY_DELAY_MS = 8_000;
/** Longer than the service works on any request. */
const MAX_SILENCE_MS = 40_000;

/** The service took the connection and said nothing. */
class SilenceError extends Error {}

export function retryDelayMs(attempt: number): number {
  return Math.min(500 * 2 ** attempt, MAX_RETRY_DELAY_MS);
}

export function transport(deps: TransportDeps) {
  /** Idempotency keys of requests that nobody answered, so that sending one again does nothing twice. */
  const unanswered = new Map<string, string>();

  async function sendOnce(request: Request, path: string): Promise<Response> {
    const silence = new AbortController();
    const attempt = new Request(request.clone(), { signal: AbortSignal.any([request.signal, silence.signal]) });
    const headers = headersFor(path, await deps.credentials(path));
    for (const [name, value] of Object.entries(headers)) attempt.headers.set(name, value);
    const timer = setTimeout(() => silence.abort(new SilenceError()), MAX_SILENCE_MS);
    try {
      return await deps.fetch(attempt);
    } finally {
      clearTimeout(timer);
    }
  }

  async function sendWithRetry(request: Request, path: string): Promise<Response> {
    const isRead = request.method === 'GET';
    // A DELETE is not retried: if the first one succeeded, the second gets a 404.
    const maxAttempts = request.method === 'DELETE' ? 1 : MAX_ATTEMPTS;
    for (let attempt = 1; ; attempt++) {
      const response = await sendOnce(request, path).catch((error: unknown) => {
        if (error instanceof SilenceError) return undefined;
        if (isAbort(error) || !(error instanceof TypeError)) throw error;
        return error;
      });
      if (response instanceof Response && !isGatewayError(response)) {
        deps.onConnectionRestored();
        const delayMs = retryAfterMs(response);
        if (!isRead || response.status !== 503 || delayMs === undefined || attempt > 3) return response;
        await deps.wait(delayMs, request.signal);
        continue;
      }
      deps.onConnectionLost();
      // After a silence the user has waited long enough.
      if (response === undefined || attempt >= maxAttempts) throw new ConnectionError();
      await deps.wait(retryDelayMs(attempt - 1), request.signal);
    }
  }

  async function sendWithKey(request: Request, path: string): Promise<Response> {
    const digest = await digestOf(request);
    const key = unanswered.get(digest) ?? crypto.randomUUID();
    request.headers.set('Idempotency-Key', key);
    try {
      const response = await sendWithRetry(request, path);
      unanswered.delete(digest);
      return response;
    } catch (error) {
      if (error instanceof ConnectionError) unanswered.set(digest, key);
      throw error;
    }
  }

  return async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const path = new URL(request.url).pathname;
    const needsKey = request.method === 'POST' && !request.headers.has('Idempotency-Key');
    const response = await (needsKey ? sendWithKey : sendWithRetry)(request, path);
    if (response.status === 401 && (await deps.reauthenticate())) return sendWithRetry(request, path);
    return response;
  };
}

/** A reverse proxy says that the service does not answer. */
function isGatewayError({ status }: Response): boolean {
  return status === 502 || status === 504;
}

async function digestOf(request: Request): Promise<string> {
  const text = `${request.url}\n${await request.clone().text()}`;
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function retryAfterMs(response: Response): number | undefined {
  const seconds = Number(response.headers.get('Retry-After'));
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1000, MAX_RETRY_DELAY_MS) : undefined;
}
