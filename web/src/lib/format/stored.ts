// Unwraps the stored records of /stage, which wrap every attribute: `{ "S": "Austin" }`.
import type { StoredListing } from '../api/generated';

export interface StoredDetails {
  id: string;
  userId: string;
  street: string;
  city: string;
  state: string;
  postalCode: string;
  country: string;
  rent: number;
  value: number;
  place?: [latitude: number, longitude: number];
  walkthrough: string;
}

export function toStoredDetails(record: StoredListing): StoredDetails {
  const { Latitude: latitude, Longitude: longitude } = record;
  const place = 'N' in latitude && 'N' in longitude ? ([Number(latitude.N), Number(longitude.N)] as const) : undefined;
  return {
    id: record.ListingId.S,
    userId: record.UserId.S,
    street: record.StreetAddress.S,
    city: record.City.S,
    state: record.State.S,
    postalCode: record.PostalCode.S,
    country: record.Country.S,
    rent: Number(record.MonthlyRent.N),
    value: Number(record.PropertyValue.N),
    place: place && [...place],
    walkthrough: record.walkthroughLink.S,
  };
}

/** Returns only http and https URLs, so that user input cannot become a `javascript:` link. */
export function safeLink(text: string): string | undefined {
  try {
    const url = new URL(text);
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : undefined;
  } catch {
    return undefined;
  }
}
