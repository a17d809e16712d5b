// The OpenAPI document, read with a JSON Schema validator as clients use it.
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';

interface Content {
  example?: unknown;
}
interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, { content?: Record<string, Content> }>;
}
const document = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, 'document');

function validator(...path: string[]) {
  const pointer = path.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
  return ajv.compile({ $ref: `document#/${pointer}` });
}

test('every amount of cents is a valid rent', () => {
  const isRent = validator(
    ...[
      'paths',
      '/listings',
      'post',
      'requestBody',
      'content',
      'application/json',
      'schema',
      'properties',
      'monthlyRent',
    ],
  );
  const refused = Array.from({ length: 300_001 }, (_, cents) => cents / 100).filter((rent) => !isRent(rent));
  expect(refused).toEqual([]);
  expect(isRent(-0.01)).toBe(false);
});

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

test('every operation has a description', () => {
  const bare = operations.filter(({ operation }) => !operation.summary || !operation.description);
  expect(bare).toEqual([]);
});

test('every body in JSON has an example, which its schema accepts', () => {
  let checked = 0;
  const check = (example: unknown, ...path: string[]) => {
    const isValid = validator(...path, 'schema');
    expect(example, path.join(' ')).toBeDefined();
    expect(isValid(example), `${path.join(' ')}: ${ajv.errorsText(isValid.errors)}`).toBe(true);
    checked += 1;
  };
  for (const { path, method, operation } of operations) {
    const at = ['paths', path, method];
    const json = 'application/json';
    const body = operation.requestBody?.content[json];
    if (body) check(body.example, ...at, 'requestBody', 'content', json);
    for (const [status, { content }] of Object.entries(operation.responses)) {
      const response = content?.[json];
      if (response) check(response.example, ...at, 'responses', status, 'content', json);
    }
  }
  expect(checked).toBeGreaterThan(100);
});
