// End-to-end tests: real Chromium, real server, real chain.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: process.env.PORTICO_SHOTS ? ['shots.ts'] : ['**/*.e2e.ts'],
    maxWorkers: 4,
    // Files that run in the same worker share its modules, and with them one browser.
    isolate: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A browser on a busy machine may miss a deadline once; whoever fails twice has failed.
    retry: 1,
  },
});
