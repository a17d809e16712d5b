// What lies under the pins: the ground, names, and streets if the server has them.
import type L from 'leaflet';
import { session } from '../session/session.svelte';
import { theme } from '../state/theme.svelte';
import { drawGround, loadGround, type Ground } from './ground';
import { NameLayer } from './names';
import type { Streets } from './streets';

/** Zoom level from which the ground alone shows little. */
const STREETS_EXPECTED_ZOOM = 11;

export class Background {
  hasFailed = $state(false);
  hasStreets = $state(false);
  /** Whether the map shows a place close up that the street map does not have. */
  isWithoutStreets = $state(false);
  #ground: Ground | undefined;
  #streets: Streets | undefined;
  #streetsMode = theme.mode;
  /** The page was left while the map was loading. */
  #isGone = false;

  constructor(map: L.Map) {
    map.on('moveend', () => this.#update(map)).on('unload', () => (this.#isGone = true));
    void this.#draw(map);
  }

  /** In the colours of the theme. */
  paint(mode: 'light' | 'dark'): void {
    this.#ground?.paint();
    if (mode !== this.#streetsMode) this.#streets?.paint(mode);
    this.#streetsMode = mode;
  }

  async #draw(map: L.Map): Promise<void> {
    try {
      const atlases = await loadGround();
      if (this.#isGone) return;
      this.#ground = drawGround(map, atlases);
      const names = new NameLayer(map, this.#ground.states);
      const { basemap } = session.config;
      if (basemap) {
        const { addStreets, openStreets } = await import('./streets');
        const archive = await openStreets(basemap);
        if (this.#isGone) return;
        this.#streets = addStreets(map, archive, this.#streetsMode);
        names.hideWithin(this.#streets.bounds, this.#streets.minZoom);
        this.hasStreets = true;
      }
    } catch {
      this.hasFailed = true;
    }
    if (!this.#isGone) this.#update(map);
  }

  #update(map: L.Map): void {
    const isCovered = this.#streets?.bounds.contains(map.getCenter()) === true;
    this.isWithoutStreets = !isCovered && map.getZoom() >= STREETS_EXPECTED_ZOOM;
  }
}
