// Reverse proxy for a server without an embedded console: serves dist/ under /console/ with the headers of the server and
// forwards everything else.
import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, resolve } from 'node:path';
import type { ServerHandle } from './server';

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

const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
};

/** What the server makes, below the path of the files. */
const FROM_SERVER = ['/console/config.json', '/console/basemap.pmtiles'];

/** Returns the server if it embeds the console; otherwise, or with PORTICO_CONSOLE=dist, a proxy in front of it. */
export async function withConsole(server: ServerHandle): Promise<ServerHandle> {
  if (process.env.PORTICO_CONSOLE === 'dist') return startProxy(server);
  const embedded = await fetch(`${server.url}/console/`).catch(() => undefined);
  return embedded?.ok ? server : startProxy(server);
}

async function startProxy(server: ServerHandle): Promise<ServerHandle> {
  const target = new URL(server.url);
  const proxy = createServer(async (incoming, outgoing) => {
    const path = new URL(incoming.url ?? '/', server.url).pathname;
    if (path.startsWith('/console/') && !FROM_SERVER.includes(path)) {
      const name = decodeURIComponent(path.slice('/console/'.length));
      const file = extname(name) ? name : 'index.html';
      const body = await readFile(join(DIST, file)).catch(() => undefined);
      const type = CONTENT_TYPES[extname(file)] ?? 'application/octet-stream';
      if (body) outgoing.writeHead(200, { 'content-type': type, 'content-security-policy': CSP }).end(body);
      else outgoing.writeHead(404).end();
    } else {
      const { method, headers } = incoming;
      const upstream = request(
        {
          host: target.hostname,
          port: target.port,
          path: incoming.url,
          method,
          // Includes the browser's Host header: the server rejects writes whose Origin has another host.
          headers,
        },
        (response) => {
          outgoing.writeHead(response.statusCode ?? 502, response.headers);
          response.pipe(outgoing);
        },
      );
      upstream.on('error', () => outgoing.destroy());
      incoming.pipe(upstream);
    }
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    data: server.data,
    run: (...command) => server.run(...command),
    async stop() {
      proxy.closeAllConnections();
      proxy.close();
      await server.stop();
    },
  };
}
