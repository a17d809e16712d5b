// Reverse proxy for a server without an embedded console: serves dist/ under /console/ with the headers of the server and
// forwards everything else.
import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, resolve } from 'node:path';
import type { Running } from './server';

const DIST = resolve(import.meta.dirname, '../../dist');

const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "manifest-src 'self'",
].join('; ');

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
};

/** Returns the server if it embeds the console; otherwise, or with PORTICO_CONSOLE=dist, a proxy in front of it. */
export async function withConsole(server: Running): Promise<Running> {
  if (process.env.PORTICO_CONSOLE === 'dist') return front(server);
  const own = await fetch(`${server.url}/console/`).catch(() => undefined);
  return own?.ok ? server : front(server);
}

async function front(server: Running): Promise<Running> {
  const target = new URL(server.url);
  const listener = createServer(async (incoming, outgoing) => {
    const path = new URL(incoming.url ?? '/', server.url).pathname;
    if (path === '/console/config.json') {
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ profile: 'sandbox' }));
    } else if (path.startsWith('/console/')) {
      const name = decodeURIComponent(path.slice('/console/'.length));
      const file = extname(name) ? name : 'index.html';
      const body = await readFile(join(DIST, file)).catch(() => undefined);
      const type = TYPES[extname(file)] ?? 'application/octet-stream';
      if (body) outgoing.writeHead(200, { 'content-type': type, 'content-security-policy': CSP }).end(body);
      else outgoing.writeHead(404).end();
    } else {
      const { method, headers } = incoming;
      const onward = request(
        {
          host: target.hostname,
          port: target.port,
          path: incoming.url,
          method,
          headers: { ...headers, host: target.host },
        },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(outgoing);
        },
      );
      onward.on('error', () => outgoing.destroy());
      incoming.pipe(onward);
    }
  });
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    run: (...command) => server.run(...command),
    async stop() {
      listener.closeAllConnections();
      listener.close();
      await server.stop();
    },
  };
}
