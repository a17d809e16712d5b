import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findBreaks, type Document } from './breaking.ts';

const read = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')) as Document;

// A release copies openapi.json to openapi.released.json. Before the first one there are no clients to break.
test('no client of the last release breaks', () => {
  const current = read('openapi.json');
  const released = existsSync(new URL('../openapi.released.json', import.meta.url))
    ? read('openapi.released.json')
    : current;
  expect(findBreaks(released, current)).toEqual([]);
});

const DOCUMENT: Document = {
  paths: {
    '/homes': {
      get: {
        operationId: 'listHomes',
        parameters: [{ name: 'sort', in: 'query', schema: { $ref: '#/components/schemas/Order' } }],
        responses: {
          '200': { content: { json: { schema: { type: 'array', items: { $ref: '#/components/schemas/Home' } } } } },
          '404': { $ref: '#/components/responses/NotFound' },
        },
      },
      post: {
        operationId: 'createHome',
        requestBody: { content: { json: { schema: { $ref: '#/components/schemas/Home' } } } },
        responses: { '201': {} },
      },
    },
  },
  components: {
    schemas: {
      Order: { type: 'string', enum: ['newest', 'rent'] },
      Home: {
        type: 'object',
        required: ['id'],
        properties: { id: { type: 'string' }, rooms: { type: 'integer' }, near: { $ref: '#/components/schemas/Home' } },
      },
    },
    responses: {
      NotFound: { content: { json: { schema: { type: 'object', properties: { code: { type: 'string' } } } } } },
    },
  },
};

function after(change: (text: string) => string): string[] {
  const changed = change(JSON.stringify(DOCUMENT));
  expect(changed).not.toBe(JSON.stringify(DOCUMENT));
  return findBreaks(DOCUMENT, JSON.parse(changed) as Document);
}
const replacing = (from: string, to: string) => after((text) => text.replace(from, to));

test('the same document breaks nothing', () => {
  expect(findBreaks(DOCUMENT, DOCUMENT)).toEqual([]);
});

test.each([
  ['a path', '"/homes"', '"/houses"', 'GET /homes: is gone'],
  ['an operation', '"get"', '"put"', 'GET /homes: is gone'],
  ['an operation’s name', '"listHomes"', '"homes"', 'GET /homes: listHomes became homes'],
  ['a status', '"404"', '"410"', 'GET /homes: 404 is gone'],
  ['a field', '"rooms"', '"chambers"', 'GET /homes 200[].rooms: is gone'],
  ['a field of an error', '"code"', '"kind"', 'GET /homes 404.code: is gone'],
  ['a field’s type', '"type":"integer"', '"type":"string"', 'GET /homes 200[].rooms: integer became string'],
  [
    'a wider type in a response',
    '"type":"integer"',
    '"type":["integer","null"]',
    'GET /homes 200[].rooms: integer became integer|null',
  ],
  ['a required field', '"required":["id"]', '"required":["id","rooms"]', 'POST /homes body.rooms: is required now'],
  ['an optional field in a response', '"required":["id"]', '"required":[]', 'GET /homes 200[].id: can be absent now'],
  ['an enum’s value', '"newest",', '', 'GET /homes query sort: no longer takes newest'],
  ['a required parameter', '"in":"query"', '"in":"query","required":true', 'GET /homes query sort: is required now'],
])('%s breaks clients', (_, from, to, found) => {
  expect(replacing(from, to)).toContain(found);
});

test('what is added breaks no client', () => {
  expect(replacing('"rooms":', '"baths":{"type":"integer"},"rooms":')).toEqual([]);
  expect(replacing('"newest",', '"newest","size",')).toEqual([]);
  expect(replacing('"paths":{', '"paths":{"/new":{},')).toEqual([]);
  expect(replacing('"parameters":[', '"parameters":[{"name":"limit","in":"query"},')).toEqual([]);
});
