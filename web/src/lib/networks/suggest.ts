// Names to suggest while somebody types the name of a network or protocol.
import { KNOWN_NETWORKS, normalizeName } from './known';

const MAX_SUGGESTIONS = 8;

/** Names in use before common ones, each in one spelling; first those that begin with what was typed. */
export function suggestNames(typed: string, used: readonly string[]): string[] {
  const wanted = normalizeName(typed);
  const names = new Map<string, string>();
  for (const name of [...used, ...KNOWN_NETWORKS.map((network) => network.name)]) {
    const key = normalizeName(name);
    if (key !== '' && !names.has(key)) names.set(key, name);
  }
  const found = [...names].filter(([key]) => key.includes(wanted));
  const isPrefix = ([key]: [string, string]) => key.startsWith(wanted);
  const sorted = [...found.filter(isPrefix), ...found.filter((one) => !isPrefix(one))].map(([, name]) => name);
  // What is typed already needs no suggestion.
  return sorted.length === 1 && sorted[0] === typed ? [] : sorted.slice(0, MAX_SUGGESTIONS);
}
