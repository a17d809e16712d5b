// Remembers template ids in local storage to find deactivated templates: the API lists only active templates, but returns
// any by id. The ids are not secret.
const STORAGE_KEY = 'portico.templates';
const MAX_IDS = 1_000;

function read(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

function write(ids: string[]): void {
  localStorage.setItem(STORAGE_KEY, JSON.stringify(ids.slice(-MAX_IDS)));
}

export const seenTemplates = {
  all: read,
  add(ids: string[]): void {
    const known = new Set(read());
    const fresh = ids.filter((id) => !known.has(id));
    if (fresh.length > 0) write([...known, ...fresh]);
  },
  forget(id: string): void {
    write(read().filter((other) => other !== id));
  },
};
