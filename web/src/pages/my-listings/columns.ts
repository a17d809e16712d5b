// Which columns the landlord's table shows besides the address. Kept in the browser for each user; the export has all.
import { m } from '$lib/i18n';
import type { Sort } from './table';

export const COLUMNS = ['rent', 'bedrooms', 'status', 'applicants', 'chain', 'listed'] as const;
export type Column = (typeof COLUMNS)[number];

interface Heading {
  label: () => string;
  /** The order that the heading sorts by, ascending and descending. */
  up?: Sort;
  down?: Sort;
  /** Aligned to the right. */
  end?: boolean;
}

export const COLUMN_HEADINGS: Record<Column, Heading> = {
  rent: { label: m.home_table_rent, up: 'rent-low', down: 'rent-high', end: true },
  bedrooms: { label: m.rental_field_bedrooms, end: true },
  status: { label: m.home_table_status, up: 'status' },
  applicants: { label: m.landlord_applicants, down: 'applicants', end: true },
  chain: { label: m.home_table_chain },
  listed: { label: m.home_table_listed, down: 'newest' },
};

export const DEFAULT_COLUMNS: readonly Column[] = ['rent', 'status', 'applicants', 'chain'];
const STORAGE_KEY = 'portico.listing-columns';

export function loadColumns(userId: string): readonly Column[] {
  const stored = readAll()[userId];
  if (!Array.isArray(stored)) return DEFAULT_COLUMNS;
  return COLUMNS.filter((column) => stored.includes(column));
}

export function saveColumns(userId: string, columns: readonly Column[]): void {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify({ ...readAll(), [userId]: columns }));
  } catch {
    // Storage is full or turned off: the choice lasts as long as the page.
  }
}

/** The columns stay in their order. */
export function withColumn(columns: readonly Column[], column: Column, isShown: boolean): readonly Column[] {
  return COLUMNS.filter((one) => (one === column ? isShown : columns.includes(one)));
}

/** Storage may be disabled, or hold what an older console wrote. */
function readAll(): Record<string, unknown> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}');
    return typeof stored === 'object' && stored !== null ? { ...stored } : {};
  } catch {
    return {};
  }
}
