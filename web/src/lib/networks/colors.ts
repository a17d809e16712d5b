// The colour of a network: the same on every page and in every chart, whatever is shown next to it.
import { findKnown, normalizeName } from './known';

export const NETWORK_COLORS = 24;

/** The CSS colour of a network; the name may be spelled in any way. Names that are not known can share a colour. */
export function networkColor(name: string): string {
  return `var(--network-${findKnown(name)?.color ?? (hash(normalizeName(name)) % NETWORK_COLORS) + 1})`;
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const char of text) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return value >>> 0;
}
