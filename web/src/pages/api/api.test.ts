import { expect, test } from 'vitest';
import { curlFor } from './curl';
import { accessOf, fits, grouped, operationsOf, type Document } from './document';

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
const [stored, keys] = operationsOf(document);

test('access is parsed from the security requirements', () => {
  expect(accessOf([{}, { bearer: [] }, { apiKey: [] }])).toBe('open');
  expect(accessOf([{ bearer: [] }])).toBe('person');
  expect(accessOf([{ apiKey: [] }])).toBe('key');
  expect(accessOf([{ bearer: [] }, { apiKey: [] }])).toBe('signed-in');
});

test('operations match by words and by access', () => {
  expect(stored && fits(stored, 'stage record', '')).toBe(true);
  expect(stored && fits(stored, 'keys', '')).toBe(false);
  expect(stored && fits(stored, '', 'person')).toBe(false);
  expect(grouped([stored, keys].filter((one) => one !== undefined)).map(([tag]) => tag)).toEqual(['Stage', 'Keys']);
});

test('a curl example uses variables and quotes the body', () => {
  expect(stored && curlFor(stored, 'http://x')).toBe(
    'curl "http://x/stage/listing/<ListingKey>" \\\n  -H "X-API-Key: $PORTICO_KEY"',
  );
  expect(keys && curlFor(keys, 'http://x')).toContain(`-d '{"name":"ada'\\''s"}'`);
});
