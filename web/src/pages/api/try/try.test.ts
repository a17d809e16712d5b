import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseOperations, type Document, type Operation } from '../document';
import { buildRequest, initialValues, isWrite } from './request';
import { HIDDEN, presentBody, presentHeaders } from './response';
import { buildSample } from './samples';

const operations = parseOperations(JSON.parse(readFileSync('openapi.json', 'utf8')) as Document);
const operation = (id: string) => operations.find((one) => one.id === id) as Operation;

test('values fill path, query and headers, each encoded', () => {
  const edit = operation('editListing');
  const values = { 'path:id': 'a/b ?$&', 'header:If-Match': '"1"', body: '{"status":"paused"}' };
  expect(buildRequest(edit, values).request).toEqual({
    method: 'PATCH',
    url: '/v1/listings/a%2Fb%20%3F%24%26',
    headers: { 'If-Match': '"1"', 'Content-Type': 'application/json' },
    body: '{"status":"paused"}',
  });
  const list = buildRequest(operation('listListings'), { 'query:searchTerm': 'a&b', 'query:limit': '' });
  expect(list.request?.url).toBe('/listings?searchTerm=a%26b');
});

test('what is missing or no JSON is said, and nothing is built', () => {
  const { request, problems } = buildRequest(operation('editListing'), { body: '{' });
  expect(request).toBeUndefined();
  expect(problems).toMatchObject({ 'path:id': 'missing', body: 'not-json' });
});

test('every operation begins with a body that is JSON, and the user’s own id', () => {
  for (const one of operations) {
    const { problems = {} } = buildRequest(one, initialValues(one, 'ada'));
    expect(Object.values(problems)).not.toContain('not-json');
  }
  expect(initialValues(operation('listUserPortfolios'), 'ada')['path:userId']).toBe('ada');
});

test('only reads are sent without being confirmed', () => {
  expect(operations.filter((one) => !isWrite(one)).every(({ method }) => method === 'GET')).toBe(true);
  expect(isWrite(operation('createListing'))).toBe(true);
});

test('secrets are not shown, wherever they are', () => {
  const body = presentBody('{"apiKey":"test_1_x","list":[{"token":"t"}],"id":"1","text":"has my-secret"}', [
    'my-secret',
    undefined,
  ]);
  expect(JSON.parse(body)).toEqual({ apiKey: HIDDEN, list: [{ token: HIDDEN }], id: '1', text: `has ${HIDDEN}` });
  expect(presentBody('plain my-secret', ['my-secret'])).toBe(`plain ${HIDDEN}`);
  const headers = presentHeaders(new Headers({ authorization: 'Bearer x', link: 'my-secret' }), ['my-secret']);
  expect(headers).toEqual([
    ['authorization', HIDDEN],
    ['link', HIDDEN],
  ]);
});

test('a long body is cut', () => {
  expect(presentBody('x'.repeat(60_000)).length).toBe(50_001);
});

test('every sample in JavaScript is a program', () => {
  for (const one of operations) {
    const sample = buildSample('javascript', one, 'https://portico.example');
    expect(() => new Function(`return async () => {${sample}}`)).not.toThrow();
  }
});

test('samples name the credential by a variable, and hold the example', () => {
  const create = operation('createKey');
  expect(buildSample('javascript', create, 'https://x')).toMatch(
    /'Authorization': `Bearer \$\{process.env.PORTICO_TOKEN\}`/,
  );
  const python = buildSample('python', create, 'https://x');
  expect(python).toContain('requests.post(\n    "https://x/v1/keys",');
  expect(python).toContain('"Authorization": "Bearer " + os.environ["PORTICO_TOKEN"]');
  expect(buildSample('python', operation('listBlocks'), 'https://x')).not.toContain('os.environ');
});

test('Python has its own constants', () => {
  const one: Operation = { ...operation('createListing'), example: { a: [true, false, null], b: {}, c: 'é"' } };
  expect(buildSample('python', one, 'https://x')).toContain(
    '    json={\n        "a": [\n            True,\n            False,\n            None,\n        ],\n        "b": {},\n        "c": "é\\"",\n    },',
  );
});
