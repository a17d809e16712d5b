import { expect, test } from 'vitest';
import { headersFor } from './credentials';
import { ConnectionError } from './problem';
import { retryDelayMs, transport, type TransportDeps } from './transport';

const LISTINGS_URL = 'http://portico.test/listings';
const ada = { userId: 'ada', operator: false, token: 'T', apiKey: 'test_K' };

function setup(responses: (number | 'lost')[], more: Partial<TransportDeps> = {}) {
  const sent: Request[] = [];
  const delays: number[] = [];
  const send = transport({
    credentials: async () => ada,
    reauthenticate: async () => false,
    onConnectionLost: () => undefined,
    onConnectionRestored: () => undefined,
    wait: async (ms) => void delays.push(ms),
    fetch: async (request) => {
      sent.push(request);
      const response = responses.shift();
      if (response === 'lost') throw new TypeError('Failed to fetch');
      return new Response(null, { status: response ?? 200 });
    },
    ...more,
  });
  return { send, sent, delays };
}

test('a read is retried until it succeeds', async () => {
  const { send, delays } = setup(['lost', 'lost', 'lost', 200]);
  expect((await send(LISTINGS_URL)).status).toBe(200);
  expect(delays).toEqual([500, 1000, 2000]);
});

test('a retried write sends the same idempotency key', async () => {
  const { send, sent } = setup(['lost', 201]);
  await send(LISTINGS_URL, { method: 'POST', body: '{}' });
  const keys = sent.map((request) => request.headers.get('Idempotency-Key'));
  expect(keys[0]).toBeTruthy();
  expect(keys[0]).toBe(keys[1]);
});

test('a write fails after six attempts, a delete after one', async () => {
  const write = setup(Array(9).fill('lost'));
  await expect(write.send(LISTINGS_URL, { method: 'POST', body: '{}' })).rejects.toBeInstanceOf(ConnectionError);
  expect(write.sent).toHaveLength(6);
  const deletion = setup(['lost']);
  await expect(deletion.send(LISTINGS_URL, { method: 'DELETE' })).rejects.toBeInstanceOf(ConnectionError);
});

test('after signing in again the same request is sent with the new credential', async () => {
  let token = 'old';
  const { send, sent } = setup([401, 200], {
    credentials: async () => ({ ...ada, token }),
    reauthenticate: async () => {
      token = 'new';
      return true;
    },
  });
  expect((await send(LISTINGS_URL)).status).toBe(200);
  expect(sent.map((request) => request.headers.get('Authorization'))).toEqual(['Bearer old', 'Bearer new']);
});

test('without a new sign-in the 401 is returned', async () => {
  const { send } = setup([401]);
  expect((await send(LISTINGS_URL)).status).toBe(401);
});

test('retry delays grow up to eight seconds', () => {
  expect([0, 1, 4, 20].map(retryDelayMs)).toEqual([500, 1000, 8000, 8000]);
});

test('stage requests send the key, others the token, never both', () => {
  expect(headersFor('/stage/listings', ada)).toEqual({ 'X-API-Key': 'test_K' });
  expect(headersFor('/listings', ada)).toEqual({ Authorization: 'Bearer T' });
  expect(headersFor('/listings', undefined)).toEqual({});
  expect(headersFor('/v1/sandbox/sessions', ada)).toEqual({});
});

test('the sandbox operator sends no token where none is required', () => {
  const operator = { ...ada, operator: true };
  expect(headersFor('/v1/predefined-portfolio', operator)).toEqual({});
  for (const path of ['/v1/keys', '/v1/pipelines', '/v1/users/ada/applications'])
    expect(headersFor(path, operator)).toEqual({ Authorization: 'Bearer T' });
  expect(headersFor('/stage/listings', operator)).toEqual({ 'X-API-Key': 'test_K' });
});

test('an owner reads the applications to a listing with the token', () => {
  for (const path of ['/v1/applications/ben%20c/oak-12', '/v1/applications/ben%20c/oak-12/records'])
    expect(headersFor(path, ada)).toEqual({ Authorization: 'Bearer T' });
});

test("an operator's key is sent everywhere", () => {
  const key = { userId: 'operator', operator: true, apiKey: 'live_K' };
  expect(headersFor('/v1/predefined-portfolio', key)).toEqual({ 'X-API-Key': 'live_K' });
  expect(headersFor('/v1/users/ada/applications', key)).toEqual({ 'X-API-Key': 'live_K' });
});
