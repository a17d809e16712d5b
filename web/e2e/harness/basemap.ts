// A small street map of Austin as a PMTiles file (version 3): made up, in the layers of the Protomaps schema.
import { gzipSync } from 'node:zlib';
import Pbf from 'pbf';
import { zxyToTileId } from 'pmtiles';

type Point = [longitude: number, latitude: number];
type Properties = Record<string, string | number>;

interface Feature {
  layer: string;
  type: 'point' | 'line' | 'polygon';
  properties: Properties;
  points: Point[];
}

const WEST = -97.82;
const SOUTH = 30.2;
const EAST = -97.66;
const NORTH = 30.34;
const MIN_ZOOM = 8;
const MAX_ZOOM = 14;
const EXTENT = 4096;
const HEADER_BYTES = 127;
const GZIP = 2;
const VECTOR_TILES = 1;

const TYPES = { point: 1, line: 2, polygon: 3 } as const;
const MOVE_TO = 1;
const LINE_TO = 2;
const CLOSE_PATH = 7;

function features(): Feature[] {
  const rectangle = (west: number, south: number, east: number, north: number): Point[] => [
    [west, south],
    [west, north],
    [east, north],
    [east, south],
  ];
  const found: Feature[] = [
    { layer: 'earth', type: 'polygon', properties: { kind: 'earth' }, points: rectangle(-99, 29, -96, 32) },
    {
      layer: 'water',
      type: 'polygon',
      properties: { kind: 'water' },
      points: rectangle(WEST, 30.245, EAST, 30.255),
    },
    {
      layer: 'landuse',
      type: 'polygon',
      properties: { kind: 'park' },
      points: rectangle(-97.78, 30.258, -97.76, 30.275),
    },
    {
      layer: 'places',
      type: 'point',
      properties: { kind: 'locality', name: 'Austin', min_zoom: 4, population: 980_000, population_rank: 11 },
      points: [[-97.7431, 30.2672]],
    },
  ];
  for (let i = 1; i < 16; i++) {
    const [longitude, latitude] = [WEST + i * 0.01, SOUTH + i * 0.00875];
    const kind = i % 5 === 0 ? 'highway' : i % 2 === 0 ? 'major_road' : 'minor_road';
    const road = (name: string, points: Point[]) =>
      found.push({ layer: 'roads', type: 'line', properties: { kind, name, min_zoom: 8 }, points });
    road(`${i}th Street`, [[WEST, latitude], [EAST, latitude]]); // prettier-ignore
    road(`Avenue ${i}`, [[longitude, SOUTH], [longitude, NORTH]]); // prettier-ignore
  }
  return found;
}

/** In tiles of the zoom level. */
function project([longitude, latitude]: Point, zoom: number): [number, number] {
  const radians = (latitude * Math.PI) / 180;
  const y = (1 - Math.log(Math.tan(radians) + 1 / Math.cos(radians)) / Math.PI) / 2;
  return [((longitude + 180) / 360) * 2 ** zoom, y * 2 ** zoom];
}

const zigzag = (value: number) => (value << 1) ^ (value >> 31);

function geometry(feature: Feature, zoom: number, x: number, y: number): number[] {
  let [lastX, lastY] = [0, 0];
  const steps = feature.points.map((point) => {
    const [atX, atY] = project(point, zoom);
    const [newX, newY] = [Math.round((atX - x) * EXTENT), Math.round((atY - y) * EXTENT)];
    const step = [zigzag(newX - lastX), zigzag(newY - lastY)];
    [lastX, lastY] = [newX, newY];
    return step;
  });
  const [first = [], ...rest] = steps;
  const lines = rest.length > 0 ? [(rest.length << 3) | LINE_TO, ...rest.flat()] : [];
  const close = feature.type === 'polygon' ? [(1 << 3) | CLOSE_PATH] : [];
  return [(1 << 3) | MOVE_TO, ...first, ...lines, ...close];
}

function writeLayer(name: string, of: Feature[], zoom: number, x: number, y: number, to: Pbf): void {
  const keys: string[] = [];
  const values: (string | number)[] = [];
  const index = <T>(list: T[], item: T) => (list.includes(item) ? list.indexOf(item) : list.push(item) - 1);
  to.writeVarintField(15, 2);
  to.writeStringField(1, name);
  for (const feature of of) {
    const tags = Object.entries(feature.properties).flatMap(([key, value]) => [index(keys, key), index(values, value)]);
    to.writeMessage(
      2,
      (_, pbf) => {
        pbf.writePackedVarint(2, tags);
        pbf.writeVarintField(3, TYPES[feature.type]);
        pbf.writePackedVarint(4, geometry(feature, zoom, x, y));
      },
      undefined,
    );
  }
  for (const key of keys) to.writeStringField(3, key);
  for (const value of values)
    to.writeMessage(
      4,
      (_, pbf) => {
        if (typeof value === 'string') pbf.writeStringField(1, value);
        else pbf.writeVarintField(4, value);
      },
      undefined,
    );
  to.writeVarintField(5, EXTENT);
}

function tile(all: Feature[], zoom: number, x: number, y: number): Buffer {
  const pbf = new Pbf();
  for (const layer of new Set(all.map(({ layer }) => layer))) {
    const of = all.filter((feature) => feature.layer === layer && touches(feature, zoom, x, y));
    if (of.length > 0) pbf.writeMessage(3, (_, to) => writeLayer(layer, of, zoom, x, y, to), undefined);
  }
  return gzipSync(pbf.finish());
}

function touches({ points }: Feature, zoom: number, x: number, y: number): boolean {
  const at = points.map((point) => project(point, zoom));
  const [xs, ys] = [at.map(([x]) => x), at.map(([, y]) => y)];
  return Math.min(...xs) < x + 1 && Math.max(...xs) >= x && Math.min(...ys) < y + 1 && Math.max(...ys) >= y;
}

/** Columns of ids (as differences), run lengths, lengths and offsets. */
function directory(tiles: { id: number; bytes: Buffer }[]): Buffer {
  const pbf = new Pbf();
  pbf.writeVarint(tiles.length);
  tiles.forEach(({ id }, i) => pbf.writeVarint(id - (tiles[i - 1]?.id ?? 0)));
  tiles.forEach(() => pbf.writeVarint(1));
  tiles.forEach(({ bytes }) => pbf.writeVarint(bytes.length));
  // 0: after the one before; otherwise the offset and 1.
  tiles.forEach((_, i) => pbf.writeVarint(i === 0 ? 1 : 0));
  return gzipSync(pbf.finish());
}

export function basemapFile(): Buffer {
  const all = features();
  const tiles: { id: number; bytes: Buffer }[] = [];
  for (let zoom = MIN_ZOOM; zoom <= MAX_ZOOM; zoom++) {
    const [left, top] = project([WEST, NORTH], zoom).map(Math.floor) as [number, number];
    const [right, bottom] = project([EAST, SOUTH], zoom).map(Math.floor) as [number, number];
    for (let x = left; x <= right; x++)
      for (let y = top; y <= bottom; y++) tiles.push({ id: zxyToTileId(zoom, x, y), bytes: tile(all, zoom, x, y) });
  }
  tiles.sort((a, b) => a.id - b.id);
  const root = directory(tiles);
  const metadata = gzipSync(JSON.stringify({ name: 'Test', vector_layers: [] }));
  const data = Buffer.concat(tiles.map(({ bytes }) => bytes));
  return Buffer.concat([header(root.length, metadata.length, data.length, tiles.length), root, metadata, data]);
}

function header(root: number, metadata: number, data: number, count: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.write('PMTiles\x03', 'latin1');
  const afterMetadata = HEADER_BYTES + root + metadata;
  // Offset and length of the root directory, the metadata, the leaf directories and the tiles; then three counts.
  const numbers = [HEADER_BYTES, root, HEADER_BYTES + root, metadata, afterMetadata, 0, afterMetadata, data];
  [...numbers, count, count, count].forEach((value, i) => bytes.writeBigUInt64LE(BigInt(value), 8 + i * 8));
  [1, GZIP, GZIP, VECTOR_TILES, MIN_ZOOM, MAX_ZOOM].forEach((value, i) => bytes.writeUInt8(value, 96 + i));
  [WEST, SOUTH, EAST, NORTH].forEach((degrees, i) => bytes.writeInt32LE(Math.round(degrees * 1e7), 102 + i * 4));
  bytes.writeUInt8(12, 118);
  bytes.writeInt32LE(Math.round(-97.7431e7), 119);
  bytes.writeInt32LE(Math.round(30.2672e7), 123);
  return bytes;
}
