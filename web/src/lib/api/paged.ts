// One page of a list: `paged((fetch) => listListings({ query: { limit: 200, cursor }, signal, fetch }))`.
// Without `limit`, a list operation returns all items.
import { withHeader } from './headers';

export interface Paged<T> {
  items: T[];
  /** Cursor of the next page; absent on the last page. */
  cursor?: string;
}

export async function paged<T>(call: (fetch: typeof globalThis.fetch) => Promise<T[]>): Promise<Paged<T>> {
  const { data, header } = await withHeader('Link', call);
  return { items: data, cursor: parseNextCursor(header) };
}

/** The cursor in `Link: </listings?cursor=…>; rel="next"`. */
export function parseNextCursor(link: string | null): string | undefined {
  const next = /<([^>]+)>;\s*rel="next"/.exec(link ?? '')?.[1];
  return next ? (new URL(next, 'http://localhost').searchParams.get('cursor') ?? undefined) : undefined;
}
