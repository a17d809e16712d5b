// Draws pins and clusters on the map.
import L from 'leaflet';
import { number } from '../format';
import { m } from '../i18n';
import type { Cluster, Pin, Place } from './types';

/** A cluster that is smaller cannot be taken apart by zooming in. */
const MIN_CLUSTER_DEGREES = 0.0001;

interface Events {
  onselect: (id: string) => void;
  onopen: (cluster: Cluster) => void;
}

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

const keyOfPin = ({ id, at }: { id: string; at: Place }) => `pin ${at.join()} ${id}`;

export class PinLayer {
  #layer = L.layerGroup();
  #map: L.Map;
  #events: Events;
  #selected: string | undefined;
  #hidden: Pin | undefined;
  /** By the id of the pin, or the place and size of the cluster. */
  #markers = new Map<string, L.Marker>();
  #places = new Map<string, Place>();
  /** Marker of the selected pin while its own is hidden in a cluster. */
  #selectedMarker: L.Marker | undefined;

  constructor(map: L.Map, events: Events) {
    this.#map = map;
    this.#events = events;
    this.#layer.addTo(map);
  }

  /** Markers that stay keep the keyboard focus. */
  show(pins: readonly Pin[], clusters: readonly Cluster[]): void {
    const wanted = new Map<string, () => L.Marker>();
    for (const pin of pins) wanted.set(keyOfPin(pin), () => this.#createPin(pin));
    this.#places = new Map(pins.map(({ id, at }) => [id, at]));
    for (const cluster of clusters)
      wanted.set(`cluster ${cluster.at.join()} ${cluster.count}`, () => this.#createCluster(cluster));
    for (const [key, marker] of this.#markers) if (!wanted.has(key)) this.#remove(key, marker);
    for (const [key, create] of wanted) {
      if (this.#markers.has(key)) continue;
      const marker = create();
      this.#markers.set(key, marker);
      this.#layer.addLayer(marker);
    }
    this.#mark(true);
  }

  /** `hidden`: the selected pin, for the time in which it is not shown. */
  select(id: string | undefined, hidden: Pin | undefined): void {
    this.#mark(false);
    this.#selected = id;
    this.#hidden = hidden;
    this.#mark(true);
  }

  #remove(key: string, marker: L.Marker): void {
    if (marker.getElement() === document.activeElement) this.#map.getContainer().focus({ preventScroll: true });
    this.#layer.removeLayer(marker);
    this.#markers.delete(key);
  }

  #mark(chosen: boolean): void {
    this.#selectedMarker?.remove();
    this.#selectedMarker = undefined;
    if (this.#selected === undefined) return;
    const at = this.#places.get(this.#selected);
    const marker = at && this.#markers.get(keyOfPin({ id: this.#selected, at }));
    marker?.setZIndexOffset(chosen ? 1000 : 0);
    marker?.getElement()?.querySelector('.map-pin')?.classList.toggle('chosen', chosen);
    if (!chosen || marker || this.#hidden?.id !== this.#selected) return;
    this.#selectedMarker = this.#createPin(this.#hidden).setZIndexOffset(1000);
    this.#layer.addLayer(this.#selectedMarker);
    this.#selectedMarker.getElement()?.querySelector('.map-pin')?.classList.add('chosen');
  }

  #createCluster(cluster: Cluster): L.Marker {
    const { at, count, box } = cluster;
    const [west, south, east, north] = box;
    const isOnePlace = Math.max(east - west, north - south) < MIN_CLUSTER_DEGREES;
    const size = count < 10 ? 'few' : count < 100 ? 'some' : 'many';
    const n = number(count);
    const title = isOnePlace ? m.map_cluster_at_one_place({ n }) : m.map_cluster({ n });
    const marker = createMarker(at, `map-cluster ${size}`, n, title);
    return marker.on('click', () => {
      if (isOnePlace) {
        this.#events.onopen(cluster);
        return;
      }
      // Zooming removes the cluster; keep the keyboard focus on the map.
      if (marker.getElement() === document.activeElement) this.#map.getContainer().focus({ preventScroll: true });
      const bounds = L.latLngBounds([south, west], [north, east]);
      // At least one level, so that the cluster comes apart.
      const zoom = Math.max(this.#map.getBoundsZoom(bounds.pad(0.1)), this.#map.getZoom() + 1);
      this.#map.flyTo(bounds.getCenter(), Math.min(zoom, this.#map.getMaxZoom()), { duration: 0.4 });
    });
  }

  #createPin({ id, label, at }: Pin): L.Marker {
    return createMarker(at, 'map-pin', '', label).on('click', () => this.#events.onselect(id));
  }
}
