/** Whether a navigation entry stands for the page at `path` or for one below it. */
export function isCurrent(entry: string, path: string): boolean {
  if (entry === '/') return path === '/';
  return path === entry || path.startsWith(`${entry}/`);
}
