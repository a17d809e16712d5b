// The operations of the service: `await getSavedListings({ path: { userId } })`.
// They return the response body and throw an ApiError or a ConnectionError.
import { client } from './generated/client.gen';
import { ApiError, ConnectionError, isAbort } from './problem';
import type { Problem } from './generated';

export * from './generated';
export { enterField, faultMessage, type ReportedFault } from './faults';
export * from './problem';
export { tagged, type Tagged } from './headers';
export { paged, type Paged } from './paged';

/** Called once, when the console starts. */
export function connect(fetch: (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>): void {
  client.setConfig({ baseUrl: '', fetch });
  client.interceptors.error.use((error, response) => {
    if (error instanceof ApiError || error instanceof ConnectionError || isAbort(error)) return error;
    // Without a response, the request was not sent or the response was cut off.
    if (!response) return error instanceof Error ? error : new ConnectionError();
    const retryAfter = Number(response.headers.get('Retry-After')) || undefined;
    return new ApiError(response.status, typeof error === 'object' ? (error as Partial<Problem>) : {}, retryAfter);
  });
}
