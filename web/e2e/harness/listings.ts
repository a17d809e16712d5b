// Listings for tests.
import type { useConsole } from '.';

export function newListing(listingId: string, overrides: object = {}) {
  return {
    listingId,
    userId: 'ben',
    streetAddress: `${listingId.length} Oak Street`,
    city: 'Austin',
    state: 'TX',
    postalCode: '78701',
    monthlyRent: 2100.25,
    bedRoomCount: 2,
    latitude: 30.2672,
    longitude: -97.7431,
    ...overrides,
  };
}

const CITIES = [
  ['Austin', 'TX', 30.2672, -97.7431],
  ['Denver', 'CO', 39.7392, -104.9903],
  ['Boston', 'MA', 42.3601, -71.0589],
] as const;

/** Stores listings in three states, 25 at a time. */
export async function storeListings(app: ReturnType<typeof useConsole>, count: number): Promise<void> {
  const post = (i: number) => {
    const [city, state, latitude, longitude] = CITIES[i % CITIES.length] ?? CITIES[0];
    const listing = newListing(`listing-${i}`, {
      streetAddress: `${i} Oak Street`,
      city,
      state,
      monthlyRent: 1000 + (i % 40) * 50,
      bedRoomCount: i % 4,
      latitude: latitude + (i % 17) / 300,
      longitude: longitude + (i % 13) / 300,
    });
    // Retry once: a busy machine can drop a connection, and the idempotency key makes it safe.
    const send = () => app.post('/listings', listing, { 'idempotency-key': listing.listingId });
    return send().catch(send);
  };
  for (let i = 0; i < count; i += 25) await Promise.all(Array.from({ length: 25 }, (_, n) => post(i + n)));
}
