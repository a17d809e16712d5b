// What may be a mistake in a listing, although it is valid: shown before it is recorded.
import { listListings } from '../api';
import { m } from '../i18n';
import type { Place } from '../map';
import { isUnitedStates, usStateName } from './places';

export interface Address {
  listingId?: string;
  street: string;
  state: string;
  postalCode: string;
  country: string;
  place?: Place;
}

export interface Warning {
  text: string;
  /** The listing that it is about. */
  listingId?: string;
}

/** How many listings of the same words are compared. */
const MAX_COMPARED = 50;

export async function findWarnings(address: Address, signal?: AbortSignal): Promise<Warning[]> {
  const [same, place] = await Promise.all([findSameAddress(address, signal), checkPlace(address)]);
  return [...place, ...same];
}

async function findSameAddress(address: Address, signal?: AbortSignal): Promise<Warning[]> {
  const query = { searchTerm: normalize(address.street), limit: MAX_COMPARED };
  const found = await listListings({ query, signal });
  const same = found.filter(
    (listing) =>
      listing.listingId !== address.listingId &&
      normalize(listing.streetAddress) === normalize(address.street) &&
      normalize(listing.postalCode) === normalize(address.postalCode),
  );
  return same.slice(0, 3).map(({ listingId }) => ({ text: m.rental_warning_same_address(), listingId }));
}

async function checkPlace({ place, state, country }: Address): Promise<Warning[]> {
  if (!place) return [];
  const { isPlaceInState, locate } = await import('../map/land');
  if (!(await locate(place)).isOnLand) return [{ text: m.rental_warning_at_sea() }];
  const name = isUnitedStates(country) ? usStateName(state) : undefined;
  if (name && !(await isPlaceInState(place, name))) return [{ text: m.rental_warning_other_state({ state: name }) }];
  return [];
}

export function normalize(text: string): string {
  return text
    .trim()
    .replace(/[\s.,]+/g, ' ')
    .toLowerCase();
}
