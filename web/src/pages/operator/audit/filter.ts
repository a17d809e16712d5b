// The filters of the audit log: in the address as they were typed, and as the API takes them.

export const FIELDS = ['actor', 'action', 'subject', 'from', 'to'] as const;
export type Field = (typeof FIELDS)[number];

/** A day begins at midnight where the operator is; `to` includes its day. */
export function filterQuery(typed: URLSearchParams): Partial<Record<Field, string>> {
  const query: Partial<Record<Field, string>> = {};
  for (const name of ['actor', 'action', 'subject'] as const) {
    const text = typed.get(name)?.trim();
    if (text) query[name] = text;
  }
  const [from, to] = [midnight(typed.get('from'), 0), midnight(typed.get('to'), 1)];
  if (from) query.from = from;
  if (to) query.to = to;
  return query;
}

function midnight(day: string | null, later: number): string | undefined {
  const [, year, month, date] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? []).map(Number);
  if (year === undefined || month === undefined || date === undefined) return undefined;
  return new Date(year, month - 1, date + later).toISOString();
}
