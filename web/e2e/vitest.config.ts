// End-to-end tests: real Chromium, real server, real chain.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: process.env.PORTICO_SHOTS ? ['shots.ts'] : ['**/*.e2e.ts'],
    // Every file has a server and a browser of its own; most of the time goes by in waiting.
    maxWorkers: 4,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A browser on a busy machine may miss a deadline once; whoever fails twice has failed.
    retry: 1,
  },
});
