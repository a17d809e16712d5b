export type Place = [latitude: number, longitude: number];

export interface Pin {
  id: string;
  /** Title on hover and accessible name. */
  label: string;
  at: Place;
}

/** A bounding box in the order of the API: west, south, east, north. */
export type Box = [west: number, south: number, east: number, north: number];

/** Pins that are too close to each other to be shown one by one. */
export interface Cluster {
  at: Place;
  count: number;
  /** What contains them. */
  box: Box;
}
