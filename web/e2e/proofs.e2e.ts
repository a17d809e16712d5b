// The programs of docs/proofs.md, as they stand there.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startServer, type ServerHandle } from './harness/server';

const run = promisify(execFile);
const text = readFileSync(new URL('../../docs/proofs.md', import.meta.url), 'utf8');
const program = (language: string) => text.match(new RegExp(`\\n\`\`\`${language}\\n([^]*?)\`\`\``))?.[1] ?? '';
const cache = process.env.PORTICO_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'portico');
const python = process.env.PORTICO_WEB3 ?? join(cache, 'tools/web3/bin/python');

const PROGRAMS: [string, (server: string, id: string) => Promise<{ stdout: string }>][] = [
  [
    'viem',
    (server, id) =>
      run(process.execPath, ['--input-type=module', '-e', program('js'), '--', server, id], {
        cwd: resolve(import.meta.dirname, '..'),
      }),
  ],
  ['web3.py', (server, id) => run(python, ['-c', program('python'), server, id])],
];
const ID = 'pine 9/ä';
let server: ServerHandle;

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(201);
  return response;
}

beforeAll(async () => {
  server = await startServer();
  const { apiKey } = (await (await post('/v1/sandbox/sessions', { userId: 'ada' })).json()) as { apiKey: string };
  const listing = {
    ...{ id: ID, userId: 'ada', addressStreet: '9 Pine Street', addressCity: 'Austin', addressState: 'TX' },
    ...{ addressPostal: '78703', monthlyPayment: 1950.25, bedRoomCount: 2 },
  };
  await post('/stage/listings', listing, { 'x-api-key': apiKey });
  const records = () => fetch(`${server.url}/v1/listings/${encodeURIComponent(ID)}/records`);
  await vi.waitFor(async () => expect(JSON.stringify(await (await records()).json())).toContain('"mined"'), 15_000);
});
afterAll(() => server.stop());

/** Between the program and the server, and says another rent. */
async function startLiar(): Promise<{ url: string; stop: () => void }> {
  const liar = createServer(async (request, response) => {
    const body = request.method === 'POST' ? await readText(request) : undefined;
    const headers = { 'content-type': 'application/json' };
    const upstream = await fetch(server.url + (request.url ?? ''), { method: request.method, headers, body });
    response.writeHead(upstream.status, headers).end((await upstream.text()).replace('1950.25', '1150.25'));
  }).listen(0, '127.0.0.1');
  await new Promise((done) => liar.once('listening', done));
  return { url: `http://127.0.0.1:${(liar.address() as AddressInfo).port}`, stop: () => liar.close() };
}

test.each(PROGRAMS)('%s verifies a record, and refuses other content', async (_, verify) => {
  const { stdout } = await verify(server.url, ID);
  expect(stdout).toContain('9 Pine Street');
  expect(stdout).toContain('1950.25');
  const liar = await startLiar();
  await expect(verify(liar.url, ID)).rejects.toThrow('the record is of other content');
  liar.stop();
});
