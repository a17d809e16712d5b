import type { FeatureCollection, MultiPolygon, Polygon, Position } from 'geojson';
import { feature } from 'topojson-client';
import type { GeometryCollection } from 'topojson-specification';
import { expect, test } from 'vitest';
import { unwrapAreas } from './antimeridian';
import { readAtlas } from './read-atlas';

const world = readAtlas('world-atlas/countries-50m.json');
const countries = feature(world, world.objects.countries as GeometryCollection) as unknown as FeatureCollection<
  Polygon,
  { name: string }
>;

/** The longest edge in degrees of longitude, away from the poles. */
function longestEdge(ring: Position[]): number {
  const edges = ring
    .slice(1)
    .map(([x = 0, y = 0], at) => (Math.abs(y) === 90 ? 0 : Math.abs(x - (ring[at]?.[0] ?? 0))));
  return Math.max(...edges);
}

test('no country goes around the world', () => {
  const fiji = countries.features.find(({ properties }) => properties.name === 'Fiji');
  const rings = (fiji?.geometry as unknown as MultiPolygon).coordinates.flat();
  expect(Math.max(...rings.map(longestEdge)), 'as it comes').toBeGreaterThan(300);
  for (const { geometry, properties } of unwrapAreas(countries))
    for (const ring of geometry.coordinates.flat() as Position[][])
      expect(longestEdge(ring), properties.name).toBeLessThan(60);
});

test('a country across the antimeridian is on both sides of the map', () => {
  const square: Polygon = {
    type: 'Polygon',
    coordinates: [
      [
        [170, 10],
        [-170, 10],
        [-170, 20],
        [170, 20],
        [170, 10],
      ],
    ],
  };
  const collection: FeatureCollection<Polygon, { name: string }> = {
    type: 'FeatureCollection',
    features: [{ type: 'Feature', properties: { name: 'Square' }, geometry: square }],
  };
  const [area] = unwrapAreas(collection);
  const [east, west] = area?.geometry.coordinates as Position[][][];
  expect(east?.[0]?.map(([x]) => x)).toEqual([170, 190, 190, 170, 170]);
  expect(west?.[0]?.map(([x]) => x)).toEqual([-190, -170, -170, -190, -190]);
});

test('Antarctica reaches the pole', () => {
  const antarctica = unwrapAreas(countries).find(({ properties }) => properties.name === 'Antarctica');
  const latitudes = (antarctica?.geometry.coordinates.flat(2) as Position[]).map(([, y = 0]) => y);
  expect(Math.min(...latitudes)).toBe(-90);
});
