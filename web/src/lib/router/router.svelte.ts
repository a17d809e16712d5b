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
  /** Position in the tab's history, to return to when the user stays on the page. */
  #index = 0;
  /** What to do with the next popstate: nothing, because it undoes one, or go there without asking. */
  #next: 'ask' | 'ignore' | 'go' = 'ask';
  /** Asked before the user leaves the page. If it returns true, it calls `proceed` later, or never. */
  onleave: ((proceed: () => void) => boolean) | undefined;

  get path(): string {
    return this.#location.path;
  }

  /** Reactive query parameters: `router.query.get('q')`. */
  get query(): URLSearchParams {
    return this.#location.query;
  }

  /** Listens to link clicks and history navigation. Returns a function that stops it. */
  start(): () => void {
    this.#index = (history.state as { index?: number } | null)?.index ?? 0;
    history.replaceState({ index: this.#index }, '');
    window.addEventListener('popstate', this.#pop);
    document.addEventListener('click', this.#click);
    return () => {
      window.removeEventListener('popstate', this.#pop);
      document.removeEventListener('click', this.#click);
    };
  }

  navigate(to: string, { replace = false } = {}): void {
    const previousPath = this.path;
    if (!replace) this.#index += 1;
    history[replace ? 'replaceState' : 'pushState']({ index: this.#index }, '', to);
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

  /** Back and Forward: the browser has gone there already, so it returns before the user is asked. */
  #pop = (event: PopStateEvent): void => {
    const next = this.#next;
    this.#next = 'ask';
    if (next === 'ignore') return;
    const index = (event.state as { index?: number } | null)?.index ?? 0;
    const steps = index - this.#index;
    const goOn = () => {
      this.#next = 'go';
      history.go(steps);
    };
    if (next === 'ask' && steps !== 0 && readLocation().path !== this.path && this.onleave?.(goOn)) {
      this.#next = 'ignore';
      history.go(-steps);
      return;
    }
    this.#index = index;
    this.#location = readLocation();
  };

  #click = (event: MouseEvent): void => {
    const link = (event.target as Element | null)?.closest?.('a');
    const isInternal = link && link.origin === location.origin && isConsolePath(link.pathname);
    const isPlainClick = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!isInternal || !isPlainClick || event.defaultPrevented || link.target || link.hasAttribute('download')) return;
    if (link.hash && link.pathname === location.pathname) return;
    event.preventDefault();
    const { href, pathname } = link;
    if (pathname !== location.pathname && this.onleave?.(() => this.navigate(href))) return;
    this.navigate(href);
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
