// Names of copies: each portfolio of a user has its own.
const MAX_LENGTH = 255;

/** The name, or with the first free number: `Steady storage (2)`. */
export function freeName(name: string, taken: Iterable<string>): string {
  const names = new Set([...taken].map((other) => other.toLowerCase()));
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : ` (${number})`;
    const candidate = [...name].slice(0, MAX_LENGTH - suffix.length).join('') + suffix;
    if (!names.has(candidate.toLowerCase())) return candidate;
  }
}
