// The ground of every map: countries, states and counties. It needs no service, and lies under the streets.
import L from 'leaflet';
import type { Feature } from 'geojson';
import { mesh } from 'topojson-client';
import type { GeometryCollection } from 'topojson-specification';
import type { Area } from './antimeridian';
import { areasOf, loadAtlas } from './atlas';

const COUNTIES_MIN_ZOOM = 7;
/** Leaflet draws tiles at 200. */
const GROUND_PANE_Z_INDEX = '150';
const TURN = 360;

export interface Ground {
  /** In the colours of the theme. */
  paint(): void;
  states: readonly Area[];
}

function themeColors() {
  const css = getComputedStyle(document.documentElement);
  return { land: css.getPropertyValue('--land'), line: css.getPropertyValue('--border-line') };
}

interface Areas {
  countries: readonly Area[];
  states: readonly Area[];
}

export async function loadGround(): Promise<Areas> {
  const [world, us] = await Promise.all([loadAtlas('countries'), loadAtlas('states')]);
  return { countries: areasOf(world, 'countries'), states: areasOf(us, 'states') };
}

export function drawGround(map: L.Map, { countries, states }: Areas): Ground {
  const pane = map.createPane('ground');
  pane.style.zIndex = GROUND_PANE_Z_INDEX;
  pane.style.pointerEvents = 'none';
  const base = { pane: 'ground', renderer: L.canvas({ pane: 'ground', padding: 0.5 }), interactive: false };

  const layers: L.GeoJSON[] = [];
  function add(features: readonly Feature[], options: L.PathOptions, turns = 0) {
    const layer = L.geoJSON([...features], {
      ...base,
      style: options,
      coordsToLatLng: ([longitude, latitude]) => L.latLng(latitude, longitude + turns * TURN),
    });
    layers.push(layer);
    map.addLayer(layer);
  }

  // The same world again, where the map shows the next one.
  const drawnTurns = new Set<number>();
  function addWorld(turns: number) {
    if (drawnTurns.has(turns)) return;
    drawnTurns.add(turns);
    add(countries, { weight: 0.6, fillOpacity: 1 }, turns);
    add(states, { weight: 1, fillOpacity: 1 }, turns);
    paint();
  }

  let isGone = false;
  let countiesRequested = false;
  async function addCounties() {
    countiesRequested = true;
    const atlas = await loadAtlas('counties').catch(() => undefined);
    if (!atlas || isGone) return;
    const geometry = mesh(atlas, atlas.objects.counties as GeometryCollection, (a, b) => a !== b);
    add([{ type: 'Feature', properties: {}, geometry }], { weight: 0.5, fill: false });
    paint();
  }

  function paint() {
    const { land: fillColor, line: color } = themeColors();
    for (const layer of layers) layer.setStyle({ fillColor, color });
  }

  function update() {
    const view = map.getBounds();
    if (view.getWest() < -TURN / 2) addWorld(-1);
    if (view.getEast() > TURN / 2) addWorld(1);
    if (map.getZoom() >= COUNTIES_MIN_ZOOM && !countiesRequested) void addCounties();
  }

  addWorld(0);
  map.on('moveend', update).on('unload', () => (isGone = true));
  update();
  return { paint, states };
}
