// Turns what was typed for an operation into a request.
import type { Operation, Parameter } from '../document';

/** Values by field: `path:listingId`, `query:limit`, `header:If-Match`, and `body`. */
export type CallValues = Record<string, string>;

export interface CallRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: Record<string, string>;
  body?: string;
}

export type RequestProblem = 'missing' | 'not-json';

export type BuiltRequest =
  { request: CallRequest; problems?: undefined } | { request?: undefined; problems: Record<string, RequestProblem> };

export const BODY_FIELD = 'body';
export const fieldName = ({ location, name }: Pick<Parameter, 'location' | 'name'>) => `${location}:${name}`;

/** Reads never change anything; everything else is confirmed first. */
export const isWrite = ({ method }: Pick<Operation, 'method'>) => method !== 'GET' && method !== 'HEAD';

/** The example of the operation, and the user's own id where one is asked for. */
export function initialValues(operation: Operation, userId: string): CallValues {
  const values: CallValues = {};
  for (const parameter of operation.parameters)
    values[fieldName(parameter)] = /^user_?id$/i.test(parameter.name) && parameter.required ? userId : '';
  if (operation.body.length > 0) values[BODY_FIELD] = JSON.stringify(operation.example ?? {}, null, 2);
  return values;
}

export function buildRequest(operation: Operation, values: CallValues): BuiltRequest {
  const problems: Record<string, RequestProblem> = {};
  const value = (parameter: Parameter) => values[fieldName(parameter)] ?? '';
  for (const parameter of operation.parameters)
    if (parameter.required && value(parameter) === '') problems[fieldName(parameter)] = 'missing';
  const body = operation.body.length > 0 ? (values[BODY_FIELD] ?? '') : undefined;
  if (body !== undefined && !isJson(body)) problems[BODY_FIELD] = 'not-json';
  if (Object.keys(problems).length > 0) return { problems };

  const of = (location: string) => operation.parameters.filter((one) => one.location === location && value(one) !== '');
  let path = operation.path;
  for (const one of of('path')) path = path.replace(`{${one.name}}`, () => encodeURIComponent(value(one)));
  const query = new URLSearchParams(of('query').map((one) => [one.name, value(one)])).toString();
  const headers = Object.fromEntries(of('header').map((one) => [one.name, value(one)]));
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  return { request: { method: operation.method, url: query ? `${path}?${query}` : path, headers, body } };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
