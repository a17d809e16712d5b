// Common networks and their protocols, suggested while typing. Any other can be entered.
export interface KnownNetwork {
  name: string;
  /** Of the protocol, usually its token. */
  identifier: string;
  /** Of `--network-1` to `--network-24`; each has its own. */
  color: number;
}

export const KNOWN_NETWORKS: readonly KnownNetwork[] = [
  { name: 'Aethir', identifier: 'ath', color: 12 },
  { name: 'Akash', identifier: 'akt', color: 2 },
  { name: 'Arweave', identifier: 'ar', color: 6 },
  { name: 'DIMO', identifier: 'dimo', color: 10 },
  { name: 'Filecoin', identifier: 'fil', color: 16 },
  { name: 'Flux', identifier: 'flux', color: 17 },
  { name: 'Geodnet', identifier: 'geod', color: 9 },
  { name: 'Grass', identifier: 'grass', color: 8 },
  { name: 'Helium', identifier: 'hnt', color: 19 },
  { name: 'Hivemapper', identifier: 'honey', color: 4 },
  { name: 'io.net', identifier: 'io', color: 15 },
  { name: 'IoTeX', identifier: 'iotx', color: 14 },
  { name: 'Livepeer', identifier: 'lpt', color: 11 },
  { name: 'Natix', identifier: 'natix', color: 24 },
  { name: 'Nosana', identifier: 'nos', color: 13 },
  { name: 'peaq', identifier: 'peaq', color: 21 },
  { name: 'Pocket', identifier: 'pokt', color: 18 },
  { name: 'Render', identifier: 'render', color: 1 },
  { name: 'Storj', identifier: 'storj', color: 22 },
  { name: 'Theta', identifier: 'theta', color: 5 },
  { name: 'WeatherXM', identifier: 'wxm', color: 20 },
  { name: 'XNET', identifier: 'xnet', color: 3 },
];

/** `Helium`, `helium` and `HELIUM ` are one network. */
export function normalizeName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/g, '');
}

export function findKnown(name: string): KnownNetwork | undefined {
  const wanted = normalizeName(name);
  return KNOWN_NETWORKS.find((network) => normalizeName(network.name) === wanted);
}
