// What may be a mistake in a listing, although it is valid: shown before it is recorded.
import { listListings } from '../api';
import { LOCALE, m } from '../i18n';
import type { Place } from '../map';
import { isUnitedStates, isUsPostalCode, usStateName } from './places';
import { postalArea } from './postal-codes';

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

/** What does not fit together of the state, the postal code and the pin. Exported for tests. */
export async function checkPlace({ place, state, postalCode, country }: Address): Promise<Warning[]> {
  const isUs = isUnitedStates(country);
  const typed = isUs ? usStateName(state) : undefined;
  const postal = isUs && isUsPostalCode(postalCode) ? postalStates(postalCode) : [];
  const ofCode = { postalCode: postalCode.trim(), place: formatEither(postal ?? []) };
  const warnings: Warning[] = [];
  if (postal === undefined) warnings.push({ text: m.rental_warning_postal_code_military(ofCode) });
  else if (typed && isOutside(postal, typed))
    warnings.push({ text: m.rental_warning_postal_code_state({ ...ofCode, state: typed }) });
  if (!place) return warnings;

  const { isPlaceInState, locate } = await import('../map/land');
  if (!(await locate(place)).isOnLand) return [{ text: m.rental_warning_at_sea() }, ...warnings];
  if (typed && !(await isPlaceInState(place, typed)))
    warnings.push({ text: m.rental_warning_other_state({ state: typed }) });
  // If the code is of the typed state, that question is asked already.
  const isAsked = typed !== undefined && !isOutside(postal ?? [], typed);
  const isAtCode = await Promise.all((postal ?? []).map((name) => isPlaceInState(place, name)));
  if (!isAsked && isAtCode.length > 0 && !isAtCode.includes(true))
    warnings.push({ text: m.rental_warning_postal_code_pin(ofCode) });
  return warnings;
}

/** Undefined for military mail, empty if the prefix is not known. */
function postalStates(postalCode: string): string[] | undefined {
  const area = postalArea(postalCode);
  if (area?.isMilitary) return undefined;
  return area?.states ?? [];
}

const isOutside = (states: readonly string[], state: string) => states.length > 0 && !states.includes(state);

function formatEither(states: readonly string[]): string {
  return new Intl.ListFormat(LOCALE, { type: 'disjunction' }).format(states);
}

export function normalize(text: string): string {
  return text
    .trim()
    .replace(/[\s.,]+/g, ' ')
    .toLowerCase();
}
