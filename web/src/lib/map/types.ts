export type Place = [latitude: number, longitude: number];

export interface Pin {
  id: string;
  /** What the pin is called; shown on hover and read aloud. */
  label: string;
  at: Place;
}

/** West, south, east, north: what the service calls a bbox. */
export type Box = [west: number, south: number, east: number, north: number];
