// The current URL as reactive state. Links are plain <a href={href('/listings')}>; the router intercepts clicks.
import { fill, type Params } from './match';

const BASE = '/console';

function read() {
  const { pathname, search } = window.location;
  const path = pathname.startsWith(BASE) ? pathname.slice(BASE.length) || '/' : pathname;
  return { path, query: new URLSearchParams(search) };
}

class Router {
  #at = $state.raw(read());

  get path(): string {
    return this.#at.path;
  }

  /** Reactive query parameters: `router.query.get('q')`. */
  get query(): URLSearchParams {
    return this.#at.query;
  }

  /** Listens to link clicks and history navigation. Returns a function that stops it. */
  start(): () => void {
    const back = () => (this.#at = read());
    window.addEventListener('popstate', back);
    document.addEventListener('click', this.#click);
    return () => {
      window.removeEventListener('popstate', back);
      document.removeEventListener('click', this.#click);
    };
  }

  go(to: string, { replace = false } = {}): void {
    const before = this.path;
    history[replace ? 'replaceState' : 'pushState'](null, '', to);
    this.#at = read();
    if (before !== this.path) window.scrollTo(0, 0);
  }

  /** Sets query parameters; an empty value removes the parameter. */
  setQuery(changes: Record<string, string | undefined>, { replace = true } = {}): void {
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries(changes)) {
      if (value) query.set(name, value);
      else query.delete(name);
    }
    const text = query.toString();
    this.go(`${window.location.pathname}${text ? `?${text}` : ''}`, { replace });
  }

  #click = (event: MouseEvent): void => {
    const link = (event.target as Element | null)?.closest?.('a');
    const ours = link && link.origin === location.origin && isUnder(link.pathname);
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!ours || !plain || event.defaultPrevented || link.target || link.hasAttribute('download')) return;
    if (link.hash && link.pathname === location.pathname) return;
    event.preventDefault();
    this.go(link.href);
  };
}

function isUnder(pathname: string): boolean {
  return pathname === BASE || pathname.startsWith(`${BASE}/`);
}

/** Builds the URL of a route: `href('/listings/:id', { id })`. */
export function href(pattern: string, params: Params = {}, query: Record<string, string> = {}): string {
  const text = new URLSearchParams(query).toString();
  return BASE + fill(pattern, params) + (text ? `?${text}` : '');
}

export const router = new Router();
