// The same request in curl, JavaScript and Python. Secrets are environment variables.
import type { Operation } from '../document';
import { buildCurl } from '../curl';

export const SAMPLE_LANGUAGES = ['curl', 'javascript', 'python'] as const;
export type SampleLanguage = (typeof SAMPLE_LANGUAGES)[number];

export function buildSample(language: SampleLanguage, operation: Operation, origin: string): string {
  if (language === 'curl') return buildCurl(operation, origin);
  return language === 'javascript' ? buildJavaScript(operation, origin) : buildPython(operation, origin);
}

interface Header {
  name: string;
  /** Before the environment variable. */
  prefix: string;
  variable?: string;
}

function headersOf({ access, body }: Operation): Header[] {
  const headers: Header[] = [];
  if (access === 'key') headers.push({ name: 'X-API-Key', prefix: '', variable: 'PORTICO_KEY' });
  else if (access !== 'open') headers.push({ name: 'Authorization', prefix: 'Bearer ', variable: 'PORTICO_TOKEN' });
  if (body.length > 0) headers.push({ name: 'Content-Type', prefix: 'application/json' });
  return headers;
}

/** Placeholders, `<listingId>`, stand for what is required. */
function urlOf({ path, parameters }: Operation, origin: string): string {
  const query = parameters.filter(({ location, required }) => location === 'query' && required);
  const text = query.map(({ name }) => `${name}=<${name}>`).join('&');
  return origin + path.replace(/\{(\w+)\}/g, '<$1>') + (text ? `?${text}` : '');
}

function buildJavaScript(operation: Operation, origin: string): string {
  const headers = headersOf(operation).map(
    ({ name, prefix, variable }) =>
      `    '${name}': ${variable ? `\`${prefix}\${process.env.${variable}}\`` : `'${prefix}'`},`,
  );
  const options = [
    ...(operation.method === 'GET' ? [] : [`  method: '${operation.method}',`]),
    ...(headers.length > 0 ? ['  headers: {', ...headers, '  },'] : []),
    ...(operation.body.length > 0
      ? [`  body: JSON.stringify(${indent(JSON.stringify(operation.example ?? {}, null, 2), 2)}),`]
      : []),
  ];
  const url = JSON.stringify(urlOf(operation, origin));
  return [
    options.length > 0
      ? `const response = await fetch(${url}, {\n${options.join('\n')}\n});`
      : `const response = await fetch(${url});`,
    'console.log(response.status, await response.text());',
  ].join('\n');
}

function buildPython(operation: Operation, origin: string): string {
  // `json=` sets the content type.
  const headers = headersOf(operation).filter(({ variable }) => variable);
  const entries = headers.map(
    ({ name, prefix, variable }) => `        "${name}": ${prefix ? `"${prefix}" + ` : ''}os.environ["${variable}"],`,
  );
  return [
    ...(headers.length > 0 ? ['import os', ''] : []),
    'import requests',
    '',
    `response = requests.${operation.method.toLowerCase()}(`,
    `    ${JSON.stringify(urlOf(operation, origin))},`,
    ...(headers.length > 0 ? ['    headers={', ...entries, '    },'] : []),
    ...(operation.body.length > 0 ? [`    json=${indent(toPython(operation.example ?? {}), 4)},`] : []),
    '    timeout=30,',
    ')',
    'print(response.status_code, response.text)',
  ].join('\n');
}

/** A Python literal, four spaces a level. */
function toPython(value: unknown, level = 1): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const isArray = Array.isArray(value);
  const parts = isArray
    ? value.map((one) => toPython(one, level + 1))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${toPython(one, level + 1)}`);
  const [open, close] = isArray ? '[]' : '{}';
  if (parts.length === 0) return `${open}${close}`;
  const pad = ' '.repeat(4 * level);
  return `${open}\n${parts.map((part) => `${pad}${part},\n`).join('')}${pad.slice(4)}${close}`;
}

/** Indents all lines but the first. */
function indent(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
}
