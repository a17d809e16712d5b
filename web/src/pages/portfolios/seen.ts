// The service lists active templates only, but still shows every one by its id. So this browser remembers which ones it
// has met, to find those that were deactivated. Ids are no secret.
const STORED = 'portico.templates';
const MOST = 1_000;

function read(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED) ?? '[]');
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

function write(ids: string[]): void {
  localStorage.setItem(STORED, JSON.stringify(ids.slice(-MOST)));
}

export const seen = {
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
