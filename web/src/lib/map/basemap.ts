// The base map: countries, states and counties from npm packages, served with the console. There is no tile server.
import L from 'leaflet';
import type { FeatureCollection, Geometry } from 'geojson';
import { feature, mesh } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import countiesUrl from 'us-atlas/counties-10m.json?url';
import statesUrl from 'us-atlas/states-10m.json?url';
import countriesUrl from 'world-atlas/countries-50m.json?url';

/** Zoom levels from which counties and labels are shown. */
const COUNTIES_MIN_ZOOM = 7;
const LABELS_MIN_ZOOM = 5;

type Atlas = Topology<Record<string, GeometryCollection<{ name: string }>>>;

async function loadAtlas(url: string): Promise<Atlas> {
  const response = await fetch(url);
  if (!response.ok) throw new Error('The map could not be loaded.');
  return response.json();
}

function collection(topology: Atlas, name: string): FeatureCollection<Geometry, { name: string }> {
  return feature(topology, topology.objects[name] as GeometryCollection<{ name: string }>);
}

function themeColors() {
  const css = getComputedStyle(document.documentElement);
  return { land: css.getPropertyValue('--land'), line: css.getPropertyValue('--border-line') };
}

function createLabel(text: string, at: L.LatLng): L.Marker {
  const element = document.createElement('span');
  element.textContent = text;
  element.setAttribute('aria-hidden', 'true');
  const icon = L.divIcon({ className: 'map-label', html: element, iconSize: [0, 0] });
  return L.marker(at, { icon, interactive: false, keyboard: false });
}

/** Draws the base map. The returned function repaints it after a theme change. */
export async function drawBasemap(map: L.Map): Promise<() => void> {
  const [world, us] = await Promise.all([loadAtlas(countriesUrl), loadAtlas(statesUrl)]);
  const renderer = L.canvas({ padding: 0.5 });
  const base = { renderer, interactive: false };
  const land = L.geoJSON(collection(world, 'countries'), { ...base, style: { weight: 0.6, fillOpacity: 1 } });
  const states = L.geoJSON(collection(us, 'states'), { ...base, style: { weight: 1, fillOpacity: 1 } });
  const counties = L.geoJSON(undefined, { ...base, style: { weight: 0.5, fill: false } });
  const labels = L.layerGroup();
  states.eachLayer((layer) => {
    if (!(layer instanceof L.Polygon)) return;
    const { name } = (layer.feature as { properties: { name: string } }).properties;
    labels.addLayer(createLabel(name, layer.getBounds().getCenter()));
  });
  map.addLayer(land).addLayer(states);

  let countiesRequested = false;
  async function updateDetail() {
    const zoom = map.getZoom();
    if (zoom >= LABELS_MIN_ZOOM) map.addLayer(labels);
    else map.removeLayer(labels);
    if (zoom < COUNTIES_MIN_ZOOM || countiesRequested) return;
    countiesRequested = true;
    const topology = await loadAtlas(countiesUrl).catch(() => undefined);
    if (!topology) return;
    counties.addData(mesh(topology, topology.objects.counties as GeometryCollection, (a, b) => a !== b));
    paint();
    map.addLayer(counties);
  }

  function paint() {
    const { land: fillColor, line: color } = themeColors();
    land.setStyle({ fillColor, color });
    states.setStyle({ fillColor, color });
    counties.setStyle({ color });
  }

  paint();
  map.on('zoomend', () => void updateDetail());
  await updateDetail();
  return paint;
}
