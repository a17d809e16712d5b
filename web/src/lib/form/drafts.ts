// Drafts of forms: what was typed and not saved. They survive navigation and a reload, belong to one user, and end with
// the tab. In memory as well, because the browser's storage can be full or turned off.
const PREFIX = 'portico.draft.';
const memory = new Map<string, string>();

type Fields = Record<string, unknown>;

/** The fields that differ from the saved values, without those that must not be kept. */
export function changedFields<V extends object>(saved: V, values: V, omitted: readonly string[] = []): Partial<V> {
  const isSame = (one: unknown, two: unknown) => one === two || JSON.stringify(one) === JSON.stringify(two);
  const entries = Object.entries(values).filter(
    ([name, value]) => !omitted.includes(name) && !isSame(value, (saved as Fields)[name]),
  );
  return Object.fromEntries(entries) as Partial<V>;
}

/** The draft's fields that the form still has, with the same kind of value. */
export function applicableFields<V extends object>(initial: V, draft: unknown): Partial<V> {
  if (typeof draft !== 'object' || draft === null) return {};
  const kind = (value: unknown) => (Array.isArray(value) ? 'array' : typeof value);
  const entries = Object.entries(draft).filter(
    ([name, value]) => Object.hasOwn(initial, name) && kind(value) === kind((initial as Fields)[name]),
  );
  return Object.fromEntries(entries) as Partial<V>;
}

export function loadDraft(userId: string, key: string): unknown {
  const name = storageKey(userId, key);
  try {
    return JSON.parse(memory.get(name) ?? sessionStorage.getItem(name) ?? 'null');
  } catch {
    return undefined;
  }
}

export function saveDraft(userId: string, key: string, fields: object): void {
  const name = storageKey(userId, key);
  const text = JSON.stringify(fields);
  memory.set(name, text);
  try {
    sessionStorage.setItem(name, text);
  } catch {
    // Kept in memory.
  }
}

export function forgetDraft(userId: string, key: string): void {
  const name = storageKey(userId, key);
  memory.delete(name);
  sessionStorage.removeItem(name);
}

/** For signing out. */
export function forgetAllDrafts(): void {
  memory.clear();
  const names = Array.from({ length: sessionStorage.length }, (_, i) => sessionStorage.key(i) ?? '');
  for (const name of names.filter((name) => name.startsWith(PREFIX))) sessionStorage.removeItem(name);
}

function storageKey(userId: string, key: string): string {
  return `${PREFIX}${JSON.stringify([userId, key])}`;
}
