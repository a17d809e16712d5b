// End-to-end tests: real Chromium, real server, real chain.
import { defineConfig } from 'vitest/config';

// Screenshots and measurements are no tests.
const other = process.env.PORTICO_SHOTS ? 'shots.ts' : process.env.PORTICO_LISTINGS ? 'interactions.ts' : undefined;

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: [other ?? '**/*.e2e.ts'],
    maxWorkers: 4,
    // Files in the same worker share its modules, and so one browser.
    isolate: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 15_000 } },
    // Retry once, because a browser on a busy machine can miss a deadline.
    retry: 1,
  },
});
