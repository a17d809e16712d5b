// Finds what a newer OpenAPI document breaks in clients that were built from an older one.

export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  oneOf?: Schema[];
  allOf?: Schema[];
}
interface Content {
  schema?: Schema;
}
interface Response {
  $ref?: string;
  content?: Record<string, Content>;
}
interface Parameter {
  $ref?: string;
  name?: string;
  in?: string;
  required?: boolean;
  schema?: Schema;
}
export interface Operation {
  operationId?: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, Response>;
}
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components?: Record<string, Record<string, object>>;
}
type Direction = 'request' | 'response';

export function findBreaks(before: Document, after: Document): string[] {
  const found: string[] = [];

  function compare(older: Schema, newer: Schema, at: string, direction: Direction, path: string[] = []) {
    const pair = `${older.$ref}>${newer.$ref}`;
    if (older.$ref && path.includes(pair)) return;
    const inner = older.$ref ? [...path, pair] : path;
    const [was, is] = [flat(before, older), flat(after, newer)];
    // What may be sent must be accepted: a request takes at least what it took, a response has at most what it had.
    const [sent, accepted] = direction === 'request' ? [was, is] : [is, was];
    if (!typesOf(sent).every((type) => accepts(typesOf(accepted), type))) {
      found.push(`${at}: ${typesOf(was).join('|')} became ${typesOf(is).join('|')}`);
    }
    if (direction === 'request' && is.enum) {
      const gone = was.enum ? was.enum.filter((value) => !is.enum?.includes(value)) : ['any value'];
      if (gone.length > 0) found.push(`${at}: no longer takes ${gone.join(', ')}`);
    }
    const requires = (schema: Schema, name: string) => schema.required?.includes(name) ?? false;
    for (const [name, member] of Object.entries(was.properties ?? {})) {
      const now = is.properties?.[name];
      if (!now) found.push(`${at}.${name}: is gone`);
      else compare(member, now, `${at}.${name}`, direction, inner);
      if (now && direction === 'response' && requires(was, name) && !requires(is, name)) {
        found.push(`${at}.${name}: can be absent now`);
      }
    }
    if (direction === 'request') {
      const added = (is.required ?? []).filter((name) => !requires(was, name));
      found.push(...added.map((name) => `${at}.${name}: is required now`));
    }
    if (was.items && is.items) compare(was.items, is.items, `${at}[]`, direction, inner);
    was.oneOf?.forEach((part, index) => {
      const now = is.oneOf?.[index];
      if (now) compare(part, now, at, direction, inner);
    });
    if ((sent.oneOf?.length ?? 0) > (accepted.oneOf?.length ?? 0)) found.push(`${at}: has other alternatives`);
  }

  function compareContents(
    was: Record<string, Content> = {},
    is: Record<string, Content> = {},
    at: string,
    direction: Direction,
  ) {
    for (const [type, { schema }] of Object.entries(was)) {
      const now = is[type];
      if (!now) found.push(`${at}: ${type} is gone`);
      else if (schema && now.schema) compare(schema, now.schema, at, direction);
    }
  }

  for (const [path, item] of Object.entries(before.paths)) {
    for (const [method, was] of Object.entries(item)) {
      const at = `${method.toUpperCase()} ${path}`;
      const is = after.paths[path]?.[method];
      if (!is) {
        found.push(`${at}: is gone`);
        continue;
      }
      if (was.operationId !== is.operationId) found.push(`${at}: ${was.operationId} became ${is.operationId}`);
      const parameters = parametersOf(before, was);
      for (const [key, now] of parametersOf(after, is)) {
        const then = parameters.get(key);
        if (now.required && !then?.required) found.push(`${at} ${key}: is required now`);
        if (then?.schema && now.schema) compare(then.schema, now.schema, `${at} ${key}`, 'request');
      }
      if (is.requestBody && !was.requestBody) found.push(`${at}: needs a body now`);
      compareContents(was.requestBody?.content, is.requestBody?.content, `${at} body`, 'request');
      for (const [status, response] of Object.entries(was.responses)) {
        const now = is.responses[status];
        if (!now) found.push(`${at}: ${status} is gone`);
        else {
          const contents = [resolve(before, response).content, resolve(after, now).content] as const;
          compareContents(...contents, `${at} ${status}`, 'response');
        }
      }
    }
  }
  return found;
}

function resolve<T extends { $ref?: string }>(document: Document, value: T): T {
  const [, , kind, name] = value.$ref?.split('/') ?? [];
  return kind && name ? resolve(document, (document.components?.[kind]?.[name] ?? {}) as T) : value;
}

/** Without `$ref` and `allOf`. */
function flat(document: Document, schema: Schema): Schema {
  const { allOf = [], ...own } = resolve(document, schema);
  return allOf
    .map((part) => flat(document, part))
    .reduce(
      (all, part) => ({
        ...all,
        ...part,
        properties: { ...all.properties, ...part.properties },
        required: [...(all.required ?? []), ...(part.required ?? [])],
      }),
      own,
    );
}

function typesOf({ type, oneOf, properties }: Schema): string[] {
  if (type !== undefined) return [type].flat();
  return properties ? ['object'] : oneOf ? [] : ['any'];
}

function accepts(types: string[], type: string): boolean {
  return (
    types.length === 0 ||
    types.includes(type) ||
    types.includes('any') ||
    (type === 'integer' && types.includes('number'))
  );
}

function parametersOf(document: Document, operation: Operation): Map<string, Parameter> {
  const all = (operation.parameters ?? []).map((parameter) => resolve(document, parameter));
  return new Map(all.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter]));
}
