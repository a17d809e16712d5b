// Homes to test with.
export function home(listingId: string, more: object = {}) {
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
    ...more,
  };
}
