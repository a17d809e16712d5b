// Which route a path belongs to. Pure, so that it can be tested without a browser.
export type Params = Record<string, string>;

export interface Matched<R> {
  route: R;
  params: Params;
}

export function matchPattern(pattern: string, path: string): Params | undefined {
  const want = parts(pattern);
  const have = parts(path);
  if (want.length !== have.length) return undefined;
  const params: Params = {};
  for (const [i, piece] of want.entries()) {
    const value = have[i] ?? '';
    if (piece.startsWith(':')) {
      const decoded = decode(value);
      if (decoded === undefined) return undefined;
      params[piece.slice(1)] = decoded;
    } else if (piece !== value) return undefined;
  }
  return params;
}

/** The first route that fits: routes with fixed words stand before those with parameters. */
export function matchRoute<R extends { path: string }>(routes: readonly R[], path: string): Matched<R> | undefined {
  for (const route of routes) {
    const params = matchPattern(route.path, path);
    if (params) return { route, params };
  }
  return undefined;
}

/** Fills a pattern; ids may hold any character. */
export function fill(pattern: string, params: Params): string {
  return pattern.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

function parts(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
