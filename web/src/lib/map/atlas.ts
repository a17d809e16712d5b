// Outlines of countries, states and counties, from npm packages, served with the console.
import type { FeatureCollection, MultiPolygon, Polygon } from 'geojson';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import countiesUrl from 'us-atlas/counties-10m.json?url';
import statesUrl from 'us-atlas/states-10m.json?url';
import countriesUrl from 'world-atlas/countries-50m.json?url';
import { m } from '../i18n';
import { unwrapAreas, type Area } from './antimeridian';

export type Atlas = Topology<Record<string, GeometryCollection<{ name: string }>>>;

const URLS = { countries: countriesUrl, states: statesUrl, counties: countiesUrl };

export async function loadAtlas(name: keyof typeof URLS): Promise<Atlas> {
  const response = await fetch(URLS[name]);
  if (!response.ok) throw new Error(m.map_not_loaded());
  return response.json();
}

const areas = new WeakMap<object, Area[]>();

/** The areas of one object, for a flat map. */
export function areasOf(atlas: Atlas, name: string): Area[] {
  const object = atlas.objects[name];
  if (!object) return [];
  let found = areas.get(object);
  if (!found) {
    const collection = feature(atlas, object) as unknown as FeatureCollection<Polygon | MultiPolygon, { name: string }>;
    found = unwrapAreas(collection);
    areas.set(object, found);
  }
  return found;
}
