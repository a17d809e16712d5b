/** True if `path` is the page of a navigation entry or a page below it. */
export function isCurrent(entry: string, path: string): boolean {
  if (entry === '/') return path === '/';
  return path === entry || path.startsWith(`${entry}/`);
}
