// Response headers next to the data: the client's operations return the body alone.
import { client } from './generated/client.gen';

/** The response body and the value of one response header. */
export async function withHeader<T>(
  name: string,
  call: (fetch: typeof globalThis.fetch) => Promise<T>,
): Promise<{ data: T; header: string | null }> {
  const send = client.getConfig().fetch ?? globalThis.fetch;
  let header: string | null = null;
  const data = await call(async (input, init) => {
    const response = await send(input, init);
    header = response.headers.get(name);
    return response;
  });
  return { data, header };
}

/** A resource and the ETag of the version that was read, for `If-Match`. */
export interface Tagged<T> {
  data: T;
  etag: string;
}

/** `tagged((fetch) => getListing({ path: { id }, signal, fetch }))`. */
export async function tagged<T>(call: (fetch: typeof globalThis.fetch) => Promise<T>): Promise<Tagged<T>> {
  const { data, header } = await withHeader('ETag', call);
  // `*` matches every version.
  return { data, etag: header ?? '*' };
}
