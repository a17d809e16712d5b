// The search on the map: how many homes there are and where, and those in view. The service counts and groups them.
import { listListingClusters, type ListingCluster } from '$lib/api';
import { money } from '$lib/format';
import type { Box, Cluster, Pin } from '$lib/map';
import { session } from '$lib/session/session.svelte';
import { resource } from '$lib/state/resource.svelte';
import { wait } from '$lib/state/wait';
import type { Conditions } from './search';

export interface View {
  box: Box;
  zoom: number;
}

/** Enough to fit the map to the homes. */
const OVERVIEW_ZOOM = 3;
/** From here on homes are shown one by one. */
const SINGLE_HOMES_ZOOM = 16;
const MAX_ZOOM = 24;
/** While the map moves, nothing is asked. */
const SETTLE_MS = 150;

/** All homes of a search, far from above. */
export function searchOverview(conditions: () => Conditions) {
  return resource(async (signal) => {
    const of = conditions();
    const found = await listListingClusters({ query: { ...of, zoom: OVERVIEW_ZOOM }, signal });
    return { of, ...found };
  });
}

/** The homes in view; `undefined` before the map has one. */
export function searchView(conditions: () => Conditions, view: () => View | undefined) {
  return resource(async (signal) => {
    const [of, at] = [conditions(), view()];
    const bbox = at && intersection(at.box, of.bbox);
    if (!at || !bbox) return [];
    await wait(SETTLE_MS, signal);
    const zoom = at.zoom >= SINGLE_HOMES_ZOOM ? MAX_ZOOM : Math.round(at.zoom);
    return (await listListingClusters({ query: { ...of, bbox, zoom }, signal })).clusters;
  });
}

/** The part of the view in the area of the search. An area across the antimeridian stays as it is. */
export function intersection(view: Box, area: string | undefined): string | undefined {
  const [west, south, east, north] = area?.split(',').map(Number) ?? view;
  if (west === undefined || south === undefined || east === undefined || north === undefined) return undefined;
  if (west > east) return area;
  const box = [
    Math.max(view[0], west),
    Math.max(view[1], Math.min(south, north)),
    Math.min(view[2], east),
    Math.min(view[3], Math.max(south, north)),
  ] as const;
  if (box[0] > box[2] || box[1] > box[3]) return undefined;
  return box.map((degrees) => Number(degrees.toFixed(6))).join(',');
}

export function toPins(found: readonly ListingCluster[]): Pin[] {
  return found.flatMap(({ listing, latitude, longitude }): Pin[] => {
    if (!listing) return [];
    const rent = listing.monthlyRent ? `, ${money(listing.monthlyRent, session.config.currency)}` : '';
    return [{ id: listing.listingId, label: listing.streetAddress + rent, at: [latitude, longitude] }];
  });
}

export function toClusters(found: readonly ListingCluster[]): Cluster[] {
  return found.flatMap(({ listing, latitude, longitude, count, west, south, east, north }): Cluster[] =>
    listing ? [] : [{ at: [latitude, longitude], count, box: [west, south, east, north] }],
  );
}
