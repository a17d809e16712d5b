// Draws pins on the map and clusters them.
import L from 'leaflet';
import Supercluster from 'supercluster';
import { number } from '../format';
import type { Pin } from './types';

function createElement(className: string, text: string): HTMLElement {
  const element = document.createElement('span');
  element.className = className;
  // User input: never set it as markup.
  element.textContent = text;
  return element;
}

function createMarker(position: L.LatLngExpression, className: string, text: string, title: string): L.Marker {
  const icon = L.divIcon({ className: 'map-anchor', html: createElement(className, text), iconSize: [0, 0] });
  const marker = L.marker(position, { icon, title });
  marker.on('add', () => marker.getElement()?.setAttribute('aria-label', title));
  // Leaflet gives markers the button role but no keyboard activation.
  marker.on('keydown', ({ originalEvent: event }: L.LeafletKeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    marker.fire('click');
  });
  return marker;
}

export class PinLayer {
  #layer = L.layerGroup();
  #index = new Supercluster<{ id: string; label: string }>({ radius: 56, maxZoom: 14 });
  #map: L.Map;
  #select: (id: string) => void;
  #selected: string | undefined;
  #pins = new Map<string, Pin>();
  #markers = new Map<string, L.Marker>();
  /** Extra marker for the selected pin while its own is hidden in a cluster. */
  #selectedMarker: L.Marker | undefined;

  constructor(map: L.Map, select: (id: string) => void) {
    this.#map = map;
    this.#select = select;
    this.#layer.addTo(map);
    map.on('moveend', () => this.draw());
  }

  show(pins: readonly Pin[], selected: string | undefined): void {
    this.#selected = selected;
    this.#pins = new Map(pins.map((pin) => [pin.id, pin]));
    this.#index.load(
      pins.map(({ id, label, at: [latitude, longitude] }) => ({
        type: 'Feature',
        properties: { id, label },
        geometry: { type: 'Point', coordinates: [longitude, latitude] },
      })),
    );
    this.draw();
  }

  /** Updates only the two affected pins, which is fast enough for hover and keeps the keyboard focus. */
  select(id: string | undefined): void {
    if (id === this.#selected) return;
    this.#setSelected(this.#selected, false);
    this.#selected = id;
    this.#setSelected(id, true);
  }

  #setSelected(id: string | undefined, chosen: boolean): void {
    this.#selectedMarker?.remove();
    this.#selectedMarker = undefined;
    const marker = this.#markers.get(id ?? '');
    marker?.setZIndexOffset(chosen ? 1000 : 0);
    marker?.getElement()?.querySelector('.map-pin')?.classList.toggle('chosen', chosen);
    const pin = this.#pins.get(id ?? '');
    if (!chosen || marker || !pin) return;
    this.#selectedMarker = this.#createPin(L.latLng(pin.at), pin);
    this.#layer.addLayer(this.#selectedMarker);
  }

  draw(): void {
    const bounds = this.#map.getBounds().pad(0.1);
    const box = [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()] as [
      number,
      number,
      number,
      number,
    ];
    this.#layer.clearLayers();
    this.#markers.clear();
    for (const found of this.#index.getClusters(box, Math.round(this.#map.getZoom()))) {
      const [longitude = 0, latitude = 0] = found.geometry.coordinates;
      const position = L.latLng(latitude, longitude);
      if ('cluster_id' in found.properties) this.#layer.addLayer(this.#createCluster(position, found.properties));
      else {
        const pin = this.#createPin(position, found.properties);
        this.#markers.set(found.properties.id, pin);
        this.#layer.addLayer(pin);
      }
    }
    this.#setSelected(this.#selected, true);
  }

  #createCluster(
    position: L.LatLng,
    { cluster_id, point_count }: { cluster_id: number; point_count: number },
  ): L.Marker {
    const size = point_count < 10 ? 'few' : point_count < 100 ? 'some' : 'many';
    const marker = createMarker(
      position,
      `map-cluster ${size}`,
      number(point_count),
      `${number(point_count)} here. Zoom in`,
    );
    return marker.on('click', () => {
      // Zooming removes the cluster; keep the keyboard focus on the map.
      if (marker.getElement() === document.activeElement) this.#map.getContainer().focus({ preventScroll: true });
      this.#map.flyTo(position, this.#index.getClusterExpansionZoom(cluster_id), { duration: 0.4 });
    });
  }

  #createPin(position: L.LatLng, { id, label }: { id: string; label: string }): L.Marker {
    const chosen = id === this.#selected;
    const marker = createMarker(position, chosen ? 'map-pin chosen' : 'map-pin', '', label);
    return marker.setZIndexOffset(chosen ? 1000 : 0).on('click', () => this.#select(id));
  }
}
