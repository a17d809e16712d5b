// Polygons across the antimeridian, for a flat map. In the atlases their rings jump from 180 to -180 degrees, which a flat
// map draws as a band around the world.
import type { Feature, FeatureCollection, MultiPolygon, Polygon, Position } from 'geojson';

export type Area = Feature<Polygon | MultiPolygon, { name: string }>;

/** Continues rings beyond 180 degrees, and adds their parts on the other side of the map. */
export function unwrapAreas(areas: FeatureCollection<Polygon | MultiPolygon | null, { name: string }>): Area[] {
  return areas.features.flatMap(({ geometry, ...area }): Area[] => {
    // Some small islands have no shape at this scale.
    if (!geometry) return [];
    const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
    return [{ ...area, geometry: { type: 'MultiPolygon', coordinates: polygons.flatMap(unwrapPolygon) } }];
  });
}

function unwrapPolygon(rings: Position[][]): Position[][][] {
  // On the sphere, the outline of Antarctica may as well be the hole.
  const [outer = [], ...holes] = rings.map(unwrapRing).sort((a, b) => extent(b) - extent(a));
  const [west, east] = bounds(outer);
  const polygon = [outer, ...holes.map((hole) => near(hole, west, east))];
  const copies = [polygon];
  if (east > 180) copies.push(polygon.map((ring) => shift(ring, -360)));
  if (west < -180) copies.push(polygon.map((ring) => shift(ring, 360)));
  return copies;
}

function bounds(ring: Position[], axis: 0 | 1 = 0): [number, number] {
  const values = ring.map((at) => at[axis] ?? 0);
  return [Math.min(...values), Math.max(...values)];
}

function extent(ring: Position[]): number {
  const [[west, east], [south, north]] = [bounds(ring, 0), bounds(ring, 1)];
  return (east - west) * (north - south);
}

function unwrapRing(ring: Position[]): Position[] {
  let turns = 0;
  let previous = ring[0]?.[0] ?? 0;
  const unwrapped = ring.map(([longitude = 0, latitude = 0]): Position => {
    if (longitude - previous > 180) turns -= 1;
    else if (longitude - previous < -180) turns += 1;
    previous = longitude;
    return [longitude + turns * 360, latitude];
  });
  return turns === 0 ? unwrapped : closeAroundPole(unwrapped);
}

/** A ring around a pole ends a whole turn from where it began. */
function closeAroundPole(ring: Position[]): Position[] {
  const [first = [0, 0], last = [0, 0]] = [ring[0], ring.at(-1)];
  const pole = (first[1] ?? 0) < 0 ? -90 : 90;
  return [...ring, [last[0] ?? 0, pole], [first[0] ?? 0, pole], first];
}

/** A hole may have been unwrapped to the other side of the map. */
function near(hole: Position[], west: number, east: number): Position[] {
  const [left, right] = bounds(hole);
  const middle = (left + right) / 2;
  if (middle < west) return shift(hole, 360);
  return middle > east ? shift(hole, -360) : hole;
}

function shift(ring: Position[], degrees: number): Position[] {
  return ring.map(([longitude = 0, latitude = 0]) => [longitude + degrees, latitude]);
}
