// The fetch function of the API client: adds the credential and an idempotency key to POSTs, retries requests after a
// network error, and asks the user to sign in again after a 401.
import { headersFor, type Credentials } from './credentials';
import { ConnectionError, isAbort } from './problem';

export interface TransportDeps {
  credentials(path: string): Promise<Credentials | undefined>;
  /** Asks the user to sign in again; resolves to true once they have. */
  signInAgain(): Promise<boolean>;
  lost(): void;
  restored(): void;
  fetch(request: Request): Promise<Response>;
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Attempts of a write. Reads are retried until their page is left. */
const WRITE_ATTEMPTS = 6;
const LONGEST_PAUSE = 8_000;

export function pauseBefore(attempt: number): number {
  return Math.min(500 * 2 ** attempt, LONGEST_PAUSE);
}

export function transport(around: TransportDeps) {
  async function once(request: Request, path: string): Promise<Response> {
    const attempt = request.clone();
    const headers = headersFor(path, await around.credentials(path));
    for (const [name, value] of Object.entries(headers)) attempt.headers.set(name, value);
    return around.fetch(attempt);
  }

  async function untilAnswered(request: Request, path: string): Promise<Response> {
    const read = request.method === 'GET';
    // A DELETE is not retried: if the first one succeeded, the second gets a 404.
    const attempts = read ? Infinity : request.method === 'DELETE' ? 1 : WRITE_ATTEMPTS;
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await once(request, path);
        around.restored();
        const pause = retryAfter(response);
        if (read && response.status === 503 && pause !== undefined && attempt < 3) {
          await around.wait(pause, request.signal);
          continue;
        }
        return response;
      } catch (error) {
        if (isAbort(error) || !(error instanceof TypeError)) throw error;
        around.lost();
        if (attempt + 1 >= attempts) throw new ConnectionError();
        await around.wait(pauseBefore(attempt), request.signal);
      }
    }
  }

  return async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const path = new URL(request.url).pathname;
    if (request.method === 'POST' && !request.headers.has('Idempotency-Key')) {
      request.headers.set('Idempotency-Key', crypto.randomUUID());
    }
    const response = await untilAnswered(request, path);
    if (response.status === 401 && (await around.signInAgain())) return untilAnswered(request, path);
    return response;
  };
}

function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get('Retry-After'));
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1000, LONGEST_PAUSE) : undefined;
}
