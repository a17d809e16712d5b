// Starts the real server on a free port with a temporary data folder.
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface ServerHandle {
  url: string;
  /** The data folder. */
  data: string;
  /** Runs a CLI command on the same data folder and returns its output. */
  run(...command: string[]): Promise<string>;
  stop(): Promise<void>;
}

const BINARY = process.env.PORTICO_BIN ?? resolve(import.meta.dirname, '../../../target/debug/portico');

export async function startServer(): Promise<ServerHandle> {
  const data = await mkdtemp(join(tmpdir(), 'portico-e2e-'));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(BINARY, ['serve', '--data', data, '--listen', address, '--log', 'warn'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  const url = `http://${address}`;
  await waitUntilReady(url, () => child.exitCode !== null);
  return {
    url,
    data,
    async run(...command) {
      const { stdout } = await promisify(execFile)(BINARY, [...command, '--data', data]);
      return stdout.trim();
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
      await rm(data, { recursive: true, force: true });
    },
  };
}

export function freePort(): Promise<number> {
  return new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => done(port));
    });
  });
}

async function waitUntilReady(url: string, exited: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline && !exited()) {
    const response = await fetch(`${url}/readyz`).catch(() => undefined);
    if (response?.ok) return;
    await sleep(50);
  }
  throw new Error(`${BINARY} did not become ready`);
}
