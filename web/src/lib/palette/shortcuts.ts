// Keyboard shortcuts: Ctrl-K or Cmd-K for the palette, `?` for the list of shortcuts, and `g` and a letter for pages.
export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

export type Action = { kind: 'palette' } | { kind: 'help' } | { kind: 'go'; path: string };

/** Pages by the letter after `g`. */
export const GO_TO: Readonly<Record<string, string>> = {
  o: '/',
  l: '/listings',
  m: '/my-listings',
  s: '/saved',
  a: '/applications',
  v: '/screening',
  p: '/portfolios',
  d: '/devices',
  c: '/chain',
  i: '/api',
};

/** The second key must follow the first within this time. */
export const SEQUENCE_TIMEOUT_MS = 1_500;

export class ShortcutReader {
  #goAt = -Infinity;

  /** What a key press means, if anything. `now` in milliseconds. */
  read({ key, ctrlKey, metaKey, altKey }: KeyPress, isTyping: boolean, now: number): Action | undefined {
    const isAfterGo = now - this.#goAt <= SEQUENCE_TIMEOUT_MS;
    this.#goAt = -Infinity;
    if (isTyping || altKey) return undefined;
    if (ctrlKey || metaKey) return key.toLowerCase() === 'k' ? { kind: 'palette' } : undefined;
    if (isAfterGo) {
      const path = GO_TO[key.toLowerCase()];
      return path === undefined ? undefined : { kind: 'go', path };
    }
    if (key === 'g') this.#goAt = now;
    return key === '?' ? { kind: 'help' } : undefined;
  }
}

/** True in a text field, where keys are text; a button or a checkbox is none. */
export function isTextField(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  if (!element?.tagName) return false;
  if (element.isContentEditable) return true;
  const { tagName } = element;
  if (tagName === 'TEXTAREA' || tagName === 'SELECT') return true;
  const type = (element as HTMLInputElement).type;
  return tagName === 'INPUT' && !['checkbox', 'radio', 'button', 'submit', 'reset', 'range', 'file'].includes(type);
}
