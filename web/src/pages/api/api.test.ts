import { expect, test } from 'vitest';
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
