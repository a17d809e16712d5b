// Turns the OpenAPI document into a list of operations for display.
import { LOCALE, m } from '$lib/i18n';
export interface Parameter {
  name: string;
  location: string;
  required: boolean;
  type: string;
  description: string;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  summary: string;
  tag: string;
  access: Access;
  parameters: Parameter[];
  /** Properties of the request body. */
  body: Parameter[];
  example?: unknown;
  responses: { status: string; description: string }[];
}

export type Access = 'open' | 'person' | 'key' | 'signed-in';

export const ACCESS_LEVELS: Record<
  Access,
  { label: string; description: string; tone: 'good' | 'info' | 'warn' | 'accent' }
> = {
  open: { label: m.api_access_open(), description: m.api_access_open_text(), tone: 'good' },
  person: { label: m.api_access_token(), description: m.api_access_token_text(), tone: 'info' },
  key: { label: m.api_access_key(), description: m.api_access_key_text(), tone: 'warn' },
  'signed-in': { label: m.api_access_any(), description: m.api_access_any_text(), tone: 'accent' },
};

interface Schema {
  type?: string | string[];
  format?: string;
  $ref?: string;
  items?: Schema;
  oneOf?: Schema[];
  enum?: unknown[];
  description?: string;
  required?: string[];
  properties?: Record<string, Schema>;
}

interface RawParameter {
  $ref?: string;
  name?: string;
  in?: string;
  required?: boolean;
  schema?: Schema;
  description?: string;
}

interface RawOperation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: Record<string, unknown>[];
  parameters?: RawParameter[];
  requestBody?: { content?: Record<string, { schema?: Schema; example?: unknown }> };
  responses?: Record<string, { $ref?: string; description?: string }>;
}

export interface Document {
  info: { title: string; version: string };
  paths: Record<string, Record<string, RawOperation>>;
  components?: Record<string, Record<string, object>>;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export function parseAccess(security: Record<string, unknown>[] = []): Access {
  const names = security.flatMap((one) => Object.keys(one));
  if (security.length === 0 || security.some((one) => Object.keys(one).length === 0)) return 'open';
  if (names.includes('bearer') && names.includes('apiKey')) return 'signed-in';
  return names.includes('apiKey') ? 'key' : 'person';
}

export function parseOperations(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => methods[method]).map((method) =>
      parseOperation(path, method, methods[method] ?? {}, document),
    ),
  );
}

/** What a reference leads to; its own description counts more. */
function resolve<T extends { $ref?: string }>(document: Document, value: T): T {
  const [, , kind, name] = value.$ref?.split('/') ?? [];
  const { $ref, ...own } = value;
  return $ref && kind && name ? ({ ...document.components?.[kind]?.[name], ...own } as T) : value;
}

function parseOperation(path: string, method: string, raw: RawOperation, document: Document): Operation {
  const typeOf = (schema: Schema | undefined) => formatType(schema && simple(document, schema));
  const content = Object.values(raw.requestBody?.content ?? {})[0];
  const required = content?.schema?.required ?? [];
  return {
    id: raw.operationId ?? `${method} ${path}`,
    method: method.toUpperCase(),
    path,
    summary: raw.summary ?? '',
    tag: raw.tags?.[0] ?? m.api_other(),
    access: parseAccess(raw.security),
    parameters: (raw.parameters ?? [])
      .map((one) => resolve(document, one))
      .map((one) => ({
        name: one.name ?? '',
        location: one.in ?? '',
        required: one.required ?? false,
        type: typeOf(one.schema),
        description: one.description ?? '',
      })),
    body: Object.entries(content?.schema?.properties ?? {}).map(([name, schema]) => ({
      name,
      location: 'body',
      required: required.includes(name),
      type: typeOf(schema),
      description: schema.description ?? '',
    })),
    example: content?.example,
    responses: Object.entries(raw.responses ?? {}).map(([status, response]) => ({
      status,
      description: resolve(document, response).description ?? '',
    })),
  };
}

/** Named texts, numbers and enums read as what they are; named objects keep their name. */
function simple(document: Document, schema: Schema): Schema {
  const [one] = (schema.oneOf ?? []).filter((part) => part.type !== 'null');
  const target = resolve(document, one ?? schema);
  if (target.items) return { ...target, items: simple(document, target.items) };
  return target.properties ? schema : target;
}

function formatType(schema: Schema | undefined): string {
  if (!schema) return '';
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? '';
  if (schema.enum) return m.api_choice();
  const type = Array.isArray(schema.type)
    ? new Intl.ListFormat(LOCALE, { type: 'disjunction' }).format(schema.type)
    : (schema.type ?? '');
  if (type === 'array') return m.api_list_of({ items: formatType(schema.items) || m.api_values() });
  return schema.format && type === 'string' ? schema.format : type;
}

/** True if every search word occurs in the method, path, summary, tag or id. */
export function matchesSearch(operation: Operation, search: string, access: string): boolean {
  if (access && operation.access !== access) return false;
  const text =
    `${operation.method} ${operation.path} ${operation.summary} ${operation.tag} ${operation.id}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

export function groupByTag(operations: Operation[]): [string, Operation[]][] {
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) groups.set(operation.tag, [...(groups.get(operation.tag) ?? []), operation]);
  return [...groups];
}
