// Builds curl commands for operations. Secrets appear as shell variables.
import type { Operation } from './document';

/** Quotes text for a POSIX shell. */
export const shellQuote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function buildCurl(operation: Operation, origin: string): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => `<${name}>`);
  const query = operation.parameters
    .filter((parameter) => parameter.location === 'query' && parameter.required)
    .map(({ name }) => `${name}=<${name}>`)
    .join('&');
  const lines = [
    `curl ${operation.method === 'GET' ? '' : `-X ${operation.method} `}"${origin}${path}${query ? `?${query}` : ''}"`,
  ];
  if (operation.access === 'key') lines.push('-H "X-API-Key: $PORTICO_KEY"');
  else if (operation.access !== 'open') lines.push('-H "Authorization: Bearer $PORTICO_TOKEN"');
  if (operation.body.length > 0) {
    lines.push('-H "Content-Type: application/json"');
    if (operation.example !== undefined) lines.push(`-d ${shellQuote(JSON.stringify(operation.example))}`);
  }
  return lines.join(' \\\n  ');
}
