// Common protocols, suggested while typing. Any other can be entered.
export const PROTOCOLS: readonly { name: string; identifier: string }[] = [
  { name: 'Akash', identifier: 'akt' },
  { name: 'Arweave', identifier: 'ar' },
  { name: 'DIMO', identifier: 'dimo' },
  { name: 'Filecoin', identifier: 'fil' },
  { name: 'Geodnet', identifier: 'geod' },
  { name: 'Helium', identifier: 'hnt' },
  { name: 'Hivemapper', identifier: 'honey' },
  { name: 'IoTeX', identifier: 'iotx' },
  { name: 'Livepeer', identifier: 'lpt' },
  { name: 'Render', identifier: 'render' },
  { name: 'Storj', identifier: 'storj' },
  { name: 'Theta', identifier: 'theta' },
];

export function findIdentifier(name: string): string | undefined {
  const wanted = name.trim().toLowerCase();
  return PROTOCOLS.find((protocol) => protocol.name.toLowerCase() === wanted)?.identifier;
}
