import { expect, test } from 'vitest';
import { m } from '$lib/i18n';
import { buildCurl } from './curl';
import { parseAccess, matchesSearch, groupByTag, parseOperations, type Document } from './document';

const document: Document = {
  info: { title: 'Portico', version: '0.1.0' },
  paths: {
    '/stage/listing/{ListingKey}': {
      get: { operationId: 'getStoredListing', summary: 'One record', tags: ['Stage'], security: [{ apiKey: [] }] },
    },
    '/v1/keys': {
      post: {
        operationId: 'createKey',
        tags: ['Keys'],
        security: [{ bearer: [] }],
        requestBody: {
          content: {
            'application/json': {
              schema: { required: ['name'], properties: { name: { type: 'string', description: 'What for' } } },
              example: { name: "ada's" },
            },
          },
        },
      },
    },
  },
};
const [stored, keys] = parseOperations(document);

test('access is parsed from the security requirements', () => {
  expect(parseAccess([{}, { bearer: [] }, { apiKey: [] }])).toBe('open');
  expect(parseAccess([{ bearer: [] }])).toBe('person');
  expect(parseAccess([{ apiKey: [] }])).toBe('key');
  expect(parseAccess([{ bearer: [] }, { apiKey: [] }])).toBe('signed-in');
});

test('operations match by words and by access', () => {
  expect(stored && matchesSearch(stored, 'stage record', '')).toBe(true);
  expect(stored && matchesSearch(stored, 'keys', '')).toBe(false);
  expect(stored && matchesSearch(stored, '', 'person')).toBe(false);
  expect(groupByTag([stored, keys].filter((one) => one !== undefined)).map(([tag]) => tag)).toEqual(['Stage', 'Keys']);
});

test('a curl example uses variables and quotes the body', () => {
  expect(stored && buildCurl(stored, 'http://x')).toBe(
    'curl "http://x/stage/listing/<ListingKey>" \\\n  -H "X-API-Key: $PORTICO_KEY"',
  );
  expect(keys && buildCurl(keys, 'http://x')).toContain(`-d '{"name":"ada'\\''s"}'`);
});

test('what an operation refers to is shown as if it stood there', () => {
  const [operation] = parseOperations({
    info: document.info,
    paths: {
      '/x': {
        post: {
          parameters: [
            { $ref: '#/components/parameters/Key' },
            { name: 'sort', schema: { $ref: '#/components/schemas/Order' } },
          ],
          responses: {
            '404': { $ref: '#/components/responses/NotFound', description: 'No such home' },
            '500': { $ref: '#/components/responses/NotFound' },
          },
        },
      },
    },
    components: {
      parameters: { Key: { name: 'Idempotency-Key', in: 'header', schema: { type: 'string' } } },
      schemas: { Order: { type: 'string', enum: ['newest'] } },
      responses: { NotFound: { description: 'The path names nothing' } },
    },
  });
  expect(operation?.parameters.map(({ name, location }) => [name, location])).toEqual([
    ['Idempotency-Key', 'header'],
    ['sort', ''],
  ]);
  expect(operation?.parameters.map(({ type }) => type)).toEqual(['string', m.api_choice()]);
  expect(operation?.responses.map(({ description }) => description)).toEqual([
    'No such home',
    'The path names nothing',
  ]);
});
