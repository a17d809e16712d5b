// Streets from the server's PMTiles file, drawn over the ground. Loaded only if there is one.
import L from 'leaflet';
import { namedFlavor } from '@protomaps/basemaps';
import { PMTiles, type Header } from 'pmtiles';
import { labelRules, leafletLayer, paintRules } from 'protomaps-leaflet';

export interface Streets {
  bounds: L.LatLngBounds;
  /** Zoom level from which they are shown. */
  minZoom: number;
  /** In the colours of the theme. */
  paint(mode: 'light' | 'dark'): void;
}

/** Below it, streets would be a patch of another style on the map of the country. */
function zoomOfOneTile(bounds: L.LatLngBounds): number {
  return Math.floor(Math.log2(360 / Math.max(bounds.getEast() - bounds.getWest(), 1e-6)));
}

interface Archive {
  archive: PMTiles;
  header: Header;
}

export async function openStreets(url: string): Promise<Archive> {
  const archive = new PMTiles(new URL(url, location.href).href);
  return { archive, header: await archive.getHeader() };
}

export function addStreets(map: L.Map, { archive, header }: Archive, mode: 'light' | 'dark'): Streets {
  // protomaps-leaflet expects Leaflet there.
  Object.assign(window, { L });
  const bounds = L.latLngBounds([header.minLat, header.minLon], [header.maxLat, header.maxLon]);
  const minZoom = Math.max(header.minZoom, Math.min(zoomOfOneTile(bounds), header.maxZoom));
  let layer: L.GridLayer | undefined;

  function paint(mode: 'light' | 'dark') {
    const css = getComputedStyle(document.documentElement);
    const colours = { earth: css.getPropertyValue('--land'), water: css.getPropertyValue('--sea') };
    const flavor = { ...namedFlavor(mode), ...colours };
    const next = leafletLayer({
      url: archive,
      bounds,
      minZoom,
      maxDataZoom: header.maxZoom,
      paintRules: paintRules(flavor),
      labelRules: labelRules(flavor, document.documentElement.lang || 'en'),
      attribution: '',
    }) as unknown as L.GridLayer;
    layer?.remove();
    layer = next.addTo(map);
  }

  paint(mode);
  return { bounds, minZoom, paint };
}
