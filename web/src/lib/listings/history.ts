// The edits of a listing in words.
import { exactMoney, money, number } from '../format';
import type { FieldChangeWords } from '../format/changes';
import { m } from '../i18n';

const FIELD_LABELS: Record<string, string> = {
  streetAddress: m.rental_field_street(),
  city: m.rental_field_city(),
  state: m.rental_field_state(),
  postalCode: m.rental_field_postal_code(),
  country: m.rental_field_country(),
  monthlyRent: m.rental_field_rent(),
  propertyValue: m.rental_field_value(),
  bedRoomCount: m.rental_field_bedrooms(),
  bathroomCount: m.rental_field_bathrooms(),
  latitude: m.rental_field_latitude(),
  longitude: m.rental_field_longitude(),
  walkthroughLink: m.rental_field_walkthrough(),
  description: m.rental_field_description(),
  availableFrom: m.rental_field_available_from(),
  status: m.rental_field_status(),
  minCredit: m.rental_field_min_credit(),
  prefCredit: m.rental_field_pref_credit(),
  minIncome: m.rental_field_min_income(),
  prefIncome: m.rental_field_pref_income(),
};
const MONEY_FIELDS = ['monthlyRent', 'propertyValue', 'minIncome', 'prefIncome'];

export const LISTING_STATUSES = [
  { value: 'active', label: m.rental_status_active() },
  { value: 'paused', label: m.rental_status_paused() },
  { value: 'rented', label: m.rental_status_rented() },
] as const;

export function listingStatusLabel(status: string): string {
  return LISTING_STATUSES.find(({ value }) => value === status)?.label ?? status;
}

export function fieldLabel(field: string): string {
  return FIELD_LABELS[field] ?? field;
}

/** One change per field; of the terms, those that differ. */
export function changeWords(
  { field, before, after }: { field: string; before: unknown; after: unknown },
  currency: string,
): FieldChangeWords[] {
  if (field !== 'terms') {
    const label = fieldLabel(field);
    return [{ label, before: formatValue(field, before, currency), after: formatValue(field, after, currency) }];
  }
  const [old, now] = [before, after].map((terms) => (terms ?? {}) as Record<string, number>);
  return ['minCredit', 'prefCredit', 'minIncome', 'prefIncome']
    .filter((name) => (old?.[name] ?? 0) !== (now?.[name] ?? 0))
    .flatMap((name) => changeWords({ field: name, before: old?.[name] || null, after: now?.[name] || null }, currency));
}

/** `exact`: with all cents. */
export function formatValue(field: string, value: unknown, currency: string, { exact = false } = {}): string {
  if (value === null || value === undefined || value === '') return m.rental_none();
  if (field === 'status') return listingStatusLabel(String(value));
  if (typeof value !== 'number') return String(value);
  if (!MONEY_FIELDS.includes(field)) return number(value, 6);
  return exact ? exactMoney(value, currency) : money(value, currency);
}
