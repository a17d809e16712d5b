import { expect, test } from 'vitest';
import { headersFor } from './credentials';
import { ConnectionError } from './problem';
import { pauseBefore, transport, type TransportDeps } from './transport';

const URL_ = 'http://portico.test/listings';
const ada = { userId: 'ada', operator: false, token: 'T', apiKey: 'test_K' };

function around(answers: (number | 'lost')[], more: Partial<TransportDeps> = {}) {
  const sent: Request[] = [];
  const pauses: number[] = [];
  const send = transport({
    credentials: async () => ada,
    signInAgain: async () => false,
    lost: () => undefined,
    restored: () => undefined,
    wait: async (ms) => void pauses.push(ms),
    fetch: async (request) => {
      sent.push(request);
      const answer = answers.shift();
      if (answer === 'lost') throw new TypeError('Failed to fetch');
      return new Response(null, { status: answer ?? 200 });
    },
    ...more,
  });
  return { send, sent, pauses };
}

test('a read is retried until it succeeds', async () => {
  const { send, pauses } = around(['lost', 'lost', 'lost', 200]);
  expect((await send(URL_)).status).toBe(200);
  expect(pauses).toEqual([500, 1000, 2000]);
});

test('a retried write sends the same idempotency key', async () => {
  const { send, sent } = around(['lost', 201]);
  await send(URL_, { method: 'POST', body: '{}' });
  const keys = sent.map((request) => request.headers.get('Idempotency-Key'));
  expect(keys[0]).toBeTruthy();
  expect(keys[0]).toBe(keys[1]);
});

test('a write fails after six attempts, a delete after one', async () => {
  const post = around(Array(9).fill('lost'));
  await expect(post.send(URL_, { method: 'POST', body: '{}' })).rejects.toBeInstanceOf(ConnectionError);
  expect(post.sent).toHaveLength(6);
  const gone = around(['lost']);
  await expect(gone.send(URL_, { method: 'DELETE' })).rejects.toBeInstanceOf(ConnectionError);
});

test('after signing in again the same request is sent with the new credential', async () => {
  let token = 'old';
  const { send, sent } = around([401, 200], {
    credentials: async () => ({ ...ada, token }),
    signInAgain: async () => {
      token = 'new';
      return true;
    },
  });
  expect((await send(URL_)).status).toBe(200);
  expect(sent.map((request) => request.headers.get('Authorization'))).toEqual(['Bearer old', 'Bearer new']);
});

test('without a new sign-in the 401 is returned', async () => {
  const { send } = around([401]);
  expect((await send(URL_)).status).toBe(401);
});

test('retry delays grow up to eight seconds', () => {
  expect([0, 1, 4, 20].map(pauseBefore)).toEqual([500, 1000, 8000, 8000]);
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

test('in the sandbox an owner reads flags of applicants anonymously', () => {
  expect(headersFor('/applications/ada/oak-12/check', ada)).toEqual({ Authorization: 'Bearer T' });
  expect(headersFor('/applications/ben%20c/oak-12/check', ada)).toEqual({});
  expect(headersFor('/v1/applications/ada/oak-12/records', ada)).toEqual({ Authorization: 'Bearer T' });
  expect(headersFor('/v1/applications/ben%20c/oak-12/records', ada)).toEqual({});
  expect(headersFor('/applications/ben/oak-12/check', { ...ada, apiKey: 'live_K' })).toEqual({
    Authorization: 'Bearer T',
  });
});

test("an operator's key is sent everywhere", () => {
  const key = { userId: 'operator', operator: true, apiKey: 'live_K' };
  expect(headersFor('/v1/predefined-portfolio', key)).toEqual({ 'X-API-Key': 'live_K' });
  expect(headersFor('/v1/users/ada/applications', key)).toEqual({ 'X-API-Key': 'live_K' });
});
