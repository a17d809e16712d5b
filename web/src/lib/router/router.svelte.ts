// The current URL as reactive state. Links are plain <a href={href('/listings')}>; the router intercepts clicks.
import { fillPattern, type Params } from './match';

const BASE = '/console';

function readLocation() {
  const { pathname, search } = window.location;
  const path = pathname.startsWith(BASE) ? pathname.slice(BASE.length) || '/' : pathname;
  return { path, query: new URLSearchParams(search) };
}

class Router {
  #location = $state.raw(readLocation());

  get path(): string {
    return this.#location.path;
  }

  /** Reactive query parameters: `router.query.get('q')`. */
  get query(): URLSearchParams {
    return this.#location.query;
  }

  /** Listens to link clicks and history navigation. Returns a function that stops it. */
  start(): () => void {
    const update = () => (this.#location = readLocation());
    window.addEventListener('popstate', update);
    document.addEventListener('click', this.#click);
    return () => {
      window.removeEventListener('popstate', update);
      document.removeEventListener('click', this.#click);
    };
  }

  navigate(to: string, { replace = false } = {}): void {
    const previousPath = this.path;
    history[replace ? 'replaceState' : 'pushState'](null, '', to);
    this.#location = readLocation();
    if (previousPath !== this.path) window.scrollTo(0, 0);
  }

  /** Sets query parameters; an empty value removes the parameter. */
  setQuery(changes: Record<string, string | undefined>, { replace = true } = {}): void {
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries(changes)) {
      if (value) query.set(name, value);
      else query.delete(name);
    }
    const text = query.toString();
    this.navigate(`${window.location.pathname}${text ? `?${text}` : ''}`, { replace });
  }

  #click = (event: MouseEvent): void => {
    const link = (event.target as Element | null)?.closest?.('a');
    const isInternal = link && link.origin === location.origin && isConsolePath(link.pathname);
    const isPlainClick = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!isInternal || !isPlainClick || event.defaultPrevented || link.target || link.hasAttribute('download')) return;
    if (link.hash && link.pathname === location.pathname) return;
    event.preventDefault();
    this.navigate(link.href);
  };
}

function isConsolePath(pathname: string): boolean {
  return pathname === BASE || pathname.startsWith(`${BASE}/`);
}

/** Builds the URL of a route: `href('/listings/:id', { id })`. */
export function href(pattern: string, params: Params = {}, query: Record<string, string> = {}): string {
  const text = new URLSearchParams(query).toString();
  return BASE + fillPattern(pattern, params) + (text ? `?${text}` : '');
}

export const router = new Router();
