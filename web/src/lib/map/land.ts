// Where a place is: in which state of the United States, on other land, or at sea. From the maps of the base map.
import type { Position } from 'geojson';
import type { Area } from './antimeridian';
import { areasOf, loadAtlas, type Atlas } from './atlas';
import type { Place } from './types';

export interface Location {
  /** Name of the state, if it is one of the United States. */
  state?: string;
  isOnLand: boolean;
}

/** The maps are coarse: a pier, or a home at a border, is within this distance. About 5 km. */
const TOLERANCE_DEGREES = 0.05;

export async function locate(place: Place): Promise<Location> {
  const [states, countries] = await Promise.all([loadAtlas('states'), loadAtlas('countries')]);
  return locateIn(place, states, countries);
}

export function locateIn(place: Place, states: Atlas, countries: Atlas): Location {
  const state = areasOf(states, 'states').find((area) => contains(area, place))?.properties.name;
  if (state !== undefined) return { state, isOnLand: true };
  const near = neighbours(place);
  const onLand = (areas: Area[]) => areas.some((area) => near.some((point) => contains(area, point)));
  return { isOnLand: onLand(areasOf(countries, 'countries')) || onLand(areasOf(states, 'states')) };
}

/** Whether the place is in the state, or next to its border. */
export function isInState(place: Place, name: string, atlas: Atlas, object = 'states'): boolean {
  const area = areasOf(atlas, object).find(({ properties }) => properties.name === name);
  return area === undefined || neighbours(place).some((point) => contains(area, point));
}

/** What the map calls territories otherwise than people do. */
const ATLAS_NAMES: Record<string, string> = {
  'Northern Mariana Islands': 'Commonwealth of the Northern Mariana Islands',
  'U.S. Virgin Islands': 'United States Virgin Islands',
};

export async function isPlaceInState(place: Place, name: string): Promise<boolean> {
  return isInState(place, ATLAS_NAMES[name] ?? name, await loadAtlas('states'));
}

/** The place and eight points around it. */
function neighbours([latitude, longitude]: Place): Place[] {
  const steps = [0, -TOLERANCE_DEGREES, TOLERANCE_DEGREES];
  return steps.flatMap((north) => steps.map((east): Place => [latitude + north, longitude + east]));
}

function contains({ geometry }: Area, place: Place): boolean {
  // Some small islands have no shape at this scale.
  const polygons = geometry?.type === 'Polygon' ? [geometry.coordinates] : (geometry?.coordinates ?? []);
  return polygons.some(
    ([outer = [], ...holes]) => isInRing(outer, place) && !holes.some((hole) => isInRing(hole, place)),
  );
}

/** Counts the edges east of the place. */
function isInRing(ring: Position[], [latitude, longitude]: Place): boolean {
  let isInside = false;
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
    const [x1 = 0, y1 = 0] = ring[i] ?? [];
    const [x2 = 0, y2 = 0] = ring[j] ?? [];
    const isCrossed = y1 > latitude !== y2 > latitude;
    if (isCrossed && longitude < ((x2 - x1) * (latitude - y1)) / (y2 - y1) + x1) isInside = !isInside;
  }
  return isInside;
}
