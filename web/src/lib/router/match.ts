// Matches paths against route patterns. Pure functions, testable without a browser.
export type Params = Record<string, string>;

export interface RouteMatch<R> {
  route: R;
  params: Params;
}

export function matchPattern(pattern: string, path: string): Params | undefined {
  const patternParts = splitPath(pattern);
  const pathParts = splitPath(path);
  if (patternParts.length !== pathParts.length) return undefined;
  const params: Params = {};
  for (const [i, part] of patternParts.entries()) {
    const value = pathParts[i] ?? '';
    if (part.startsWith(':')) {
      const decoded = decode(value);
      if (decoded === undefined) return undefined;
      params[part.slice(1)] = decoded;
    } else if (part !== value) return undefined;
  }
  return params;
}

/** Returns the first matching route, so list static routes before routes with parameters. */
export function matchRoute<R extends { path: string }>(routes: readonly R[], path: string): RouteMatch<R> | undefined {
  for (const route of routes) {
    const params = matchPattern(route.path, path);
    if (params) return { route, params };
  }
  return undefined;
}

/** Inserts URL-encoded parameters into a pattern. */
export function fillPattern(pattern: string, params: Params): string {
  return pattern.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

function splitPath(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
