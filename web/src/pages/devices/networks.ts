// The names of networks as they are spelled already, so that `helium` does not become another network than `Helium`.
import { KNOWN_NETWORKS, normalizeName } from '$lib/networks/known';

const MAX_SUGGESTIONS = 200;

/** The names in use, and the common ones that are not in use in any spelling. */
export function knownNetworks(used: readonly string[]): string[] {
  const names = [...new Set(used)];
  const common = KNOWN_NETWORKS.map(({ name }) => name).filter(
    (name) => !names.some((other) => isSameName(name, other)),
  );
  return [...names, ...common].slice(0, MAX_SUGGESTIONS);
}

/** The known spelling of a name that is spelled otherwise; undefined if it is known as it is, or not at all. */
export function otherSpelling(name: string, known: readonly string[]): string | undefined {
  const trimmed = name.trim();
  if (known.includes(trimmed)) return undefined;
  return known.find((other) => isSameName(other, trimmed));
}

function isSameName(one: string, two: string): boolean {
  return normalizeName(one) === normalizeName(two);
}
