// Builds the console as a single-page app that the server serves under /console/.
import { fileURLToPath } from 'node:url';
import { paraglideVitePlugin } from '@inlang/paraglide-js';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { compress } from './build/compress.ts';
import { messageOptions } from './build/messages.js';

const server = process.env.PORTICO_URL ?? 'http://127.0.0.1:8080';
const api = [
  '/listings',
  '/stage',
  '/v1',
  '/applications',
  '/requirements',
  '/verificationPipeline',
  '/verifyRentalRequirements',
  '/chainIdentityInd',
  '/readyz',
  '/healthz',
  '/openapi.json',
  '/rpc',
  '/docs',
  '/console/config.json',
];

export default defineConfig(({ command }) => ({
  base: '/console/',
  plugins: [paraglideVitePlugin(messageOptions({ isServed: command === 'serve' })), svelte(), compress()],
  resolve: { alias: { $lib: fileURLToPath(new URL('./src/lib', import.meta.url)) } },
  server: {
    // The interfaces of the contracts are outside of web/.
    fs: { allow: ['.', '../contracts/artifacts'] },
    proxy: Object.fromEntries(api.map((path) => [path, { target: server }])),
  },
  build: {
    target: 'es2022',
    manifest: true,
    // data: URLs would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  test: { include: ['src/**/*.test.ts', 'build/**/*.test.ts'], environment: 'node' },
}));
