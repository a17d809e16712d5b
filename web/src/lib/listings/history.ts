// The edits of a listing in words.
import { money, number } from '../format';

const FIELD_LABELS: Record<string, string> = {
  streetAddress: 'Street',
  city: 'City',
  state: 'State',
  postalCode: 'Postal code',
  country: 'Country',
  monthlyRent: 'Monthly rent',
  propertyValue: 'Property value',
  bedRoomCount: 'Bedrooms',
  bathroomCount: 'Bathrooms',
  latitude: 'Latitude',
  longitude: 'Longitude',
  walkthroughLink: 'Walkthrough',
  description: 'Description',
  availableFrom: 'Available from',
  status: 'Status',
  minCredit: 'Minimum credit',
  prefCredit: 'Preferred credit',
  minIncome: 'Minimum income',
  prefIncome: 'Preferred income',
};
const MONEY_FIELDS = ['monthlyRent', 'propertyValue', 'minIncome', 'prefIncome'];

export const LISTING_STATUSES = [
  { value: 'active', label: 'Active' },
  { value: 'paused', label: 'Paused' },
  { value: 'rented', label: 'Rented' },
] as const;

export function listingStatusLabel(status: string): string {
  return LISTING_STATUSES.find(({ value }) => value === status)?.label ?? status;
}

export interface FieldChangeWords {
  label: string;
  before: string;
  after: string;
}

/** One change per field; of the terms, those that differ. */
export function changeWords(
  { field, before, after }: { field: string; before: unknown; after: unknown },
  currency: string,
): FieldChangeWords[] {
  if (field !== 'terms') {
    const label = FIELD_LABELS[field] ?? field;
    return [{ label, before: formatValue(field, before, currency), after: formatValue(field, after, currency) }];
  }
  const [old, now] = [before, after].map((terms) => (terms ?? {}) as Record<string, number>);
  return ['minCredit', 'prefCredit', 'minIncome', 'prefIncome']
    .filter((name) => (old?.[name] ?? 0) !== (now?.[name] ?? 0))
    .flatMap((name) => changeWords({ field: name, before: old?.[name] || null, after: now?.[name] || null }, currency));
}

function formatValue(field: string, value: unknown, currency: string): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (field === 'status') return listingStatusLabel(String(value));
  if (typeof value !== 'number') return String(value);
  return MONEY_FIELDS.includes(field) ? money(value, currency) : number(value, 6);
}
