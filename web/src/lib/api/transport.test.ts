import { expect, test, vi } from 'vitest';
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

test('a read is retried for some seconds', async () => {
  const { send, delays } = setup(['lost', 'lost', 'lost', 200]);
  expect((await send(LISTINGS_URL)).status).toBe(200);
  expect(delays).toEqual([500, 1000, 2000]);
  const gone = setup(Array(9).fill('lost'));
  await expect(gone.send(LISTINGS_URL)).rejects.toBeInstanceOf(ConnectionError);
  expect(gone.sent).toHaveLength(5);
});

test('a proxy without its service is a lost connection', async () => {
  let lost = 0;
  const { send, sent } = setup([502, 504, 200], { onConnectionLost: () => (lost += 1) });
  expect((await send(LISTINGS_URL)).status).toBe(200);
  expect([sent.length, lost]).toEqual([3, 2]);
});

test('a service that says nothing is given up', async () => {
  vi.useFakeTimers();
  const { send } = setup([], {
    fetch: (request) =>
      new Promise((_, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason as Error));
      }),
  });
  const outcome = expect(send(LISTINGS_URL, { method: 'PATCH', body: '{}' })).rejects.toBeInstanceOf(ConnectionError);
  await vi.advanceTimersByTimeAsync(40_000);
  await outcome;
  vi.useRealTimers();
});

test('a repeated request keeps its idempotency key, another has a new one', async () => {
  const { send, sent } = setup([...Array<'lost'>(5).fill('lost'), 201, 201, 201]);
  const post = (body: string) => send(LISTINGS_URL, { method: 'POST', body });
  await expect(post('{"a":1}')).rejects.toBeInstanceOf(ConnectionError);
  await post('{"a":2}');
  await post('{"a":1}');
  await post('{"a":1}');
  const [first, other, again, later] = [0, 5, 6, 7].map((i) => sent[i]?.headers.get('Idempotency-Key'));
  expect(again).toBe(first);
  expect(other).not.toBe(first);
  // It was answered, so that the next one is another request.
  expect(later).not.toBe(first);
});

test('a retried write sends the same idempotency key', async () => {
  const { send, sent } = setup(['lost', 201]);
  await send(LISTINGS_URL, { method: 'POST', body: '{}' });
  const keys = sent.map((request) => request.headers.get('Idempotency-Key'));
  expect(keys[0]).toBeTruthy();
  expect(keys[0]).toBe(keys[1]);
});

test('a write fails after five attempts, a delete after one', async () => {
  const write = setup(Array(9).fill('lost'));
  await expect(write.send(LISTINGS_URL, { method: 'POST', body: '{}' })).rejects.toBeInstanceOf(ConnectionError);
  expect(write.sent).toHaveLength(5);
  const deletion = setup(['lost']);
  await expect(deletion.send(LISTINGS_URL, { method: 'DELETE' })).rejects.toBeInstanceOf(ConnectionError);
});

test('after signing in the request is sent again with the new credential', async () => {
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

test("the sandbox operator's token is an operator's, and is sent everywhere", () => {
  const operator = { ...ada, operator: true };
  for (const path of ['/v1/predefined-portfolio', '/v1/audit', '/v1/keys'])
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
