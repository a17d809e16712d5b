// Names of cities and states on the ground. They show no user input.
import L from 'leaflet';
import type { Position } from 'geojson';
import type { Area } from './antimeridian';
import { CITIES } from './cities';
import { freeBoxes, type Box } from './free-boxes';
import type { Place } from './types';

const STATES_MIN_ZOOM = 5;
const STATES_MAX_ZOOM = 9;
/** Leaflet draws markers at 600. */
const NAMES_PANE_Z_INDEX = '450';
/** Of the font in map.css, generously. */
const CHARACTER_WIDTH_PX = 7.5;
const LINE_HEIGHT_PX = 18;

interface Name {
  text: string;
  at: Place;
  kind: 'city' | 'state';
  minZoom: number;
  maxZoom: number;
}

export class NameLayer {
  #map: L.Map;
  #names: readonly Name[];
  #layer = L.layerGroup();
  /** Where the streets have names of their own. */
  #hidden: { bounds: L.LatLngBounds; minZoom: number } | undefined;

  constructor(map: L.Map, states: readonly Area[]) {
    this.#map = map;
    const cities = CITIES.map((city): Name => ({ ...city, text: city.name, kind: 'city', maxZoom: Infinity }));
    const stateNames = states.map((state): Name => {
      const zooms = { minZoom: STATES_MIN_ZOOM, maxZoom: STATES_MAX_ZOOM };
      return { text: state.properties.name, at: middleOf(state), kind: 'state', ...zooms };
    });
    this.#names = [...cities, ...stateNames];
    const pane = map.createPane('names');
    pane.style.zIndex = NAMES_PANE_Z_INDEX;
    pane.style.pointerEvents = 'none';
    map.addLayer(this.#layer).on('moveend', () => this.draw());
    this.draw();
  }

  hideWithin(bounds: L.LatLngBounds, minZoom: number): void {
    this.#hidden = { bounds, minZoom };
    this.draw();
  }

  draw(): void {
    const zoom = this.#map.getZoom();
    const view = this.#map.getBounds().pad(0.1);
    const { bounds, minZoom } = this.#hidden ?? { minZoom: Infinity };
    const isHidden = (at: Place) => zoom >= minZoom && bounds?.contains(at) === true;
    const wanted = this.#names.filter(
      (name) => zoom >= name.minZoom && zoom < name.maxZoom && view.contains(name.at) && !isHidden(name.at),
    );
    this.#layer.clearLayers();
    for (const name of freeBoxes(wanted, (name) => this.#boxOf(name))) this.#layer.addLayer(createLabel(name));
  }

  #boxOf({ text, at, kind }: Name): Box {
    const { x, y } = this.#map.latLngToLayerPoint(at);
    const width = text.length * CHARACTER_WIDTH_PX;
    const left = kind === 'city' ? x - LINE_HEIGHT_PX / 2 : x - width / 2;
    return { left, top: y - LINE_HEIGHT_PX / 2, right: left + width + LINE_HEIGHT_PX, bottom: y + LINE_HEIGHT_PX / 2 };
  }
}

/** The middle of the largest part: Alaska reaches across the antimeridian. */
function middleOf({ geometry }: Area): Place {
  const boxes = (geometry.coordinates as Position[][][]).map(([outer = []]) =>
    L.latLngBounds(outer.map(([longitude = 0, latitude = 0]): Place => [latitude, longitude])),
  );
  const size = (box: L.LatLngBounds) => (box.getEast() - box.getWest()) * (box.getNorth() - box.getSouth());
  const largest = boxes.reduce((a, b) => (size(b) > size(a) ? b : a));
  const { lat, lng } = largest.getCenter();
  return [lat, lng];
}

function createLabel({ text, at, kind }: Name): L.Marker {
  const element = document.createElement('span');
  element.textContent = text;
  element.setAttribute('aria-hidden', 'true');
  const icon = L.divIcon({ className: `map-label ${kind}`, html: element, iconSize: [0, 0] });
  return L.marker(at, { icon, interactive: false, keyboard: false, pane: 'names' });
}
