// Test harness: `const app = useConsole()`, then `await app.open('/saved', { as: 'ada' })`.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { withConsole } from './proxy';
import { startServer, type ServerHandle } from './server';
import { reportCspViolations, ErrorMonitor } from './error-monitor';

export { axe } from './axe';

const BROWSER_ARGS = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** Prefers the headless shell, which takes two thirds of the time. */
function browserPath(): string {
  const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync);
  return process.env.PORTICO_CHROMIUM ?? installed ?? 'chromium';
}

/** Twice Playwright's default, because four browsers share the machine. */
const ACTION_TIMEOUT_MS = 60_000;

export interface OpenOptions {
  /** User id to act as. */
  as?: string;
  width?: number;
  height?: number;
  theme?: 'light' | 'dark';
  locale?: string;
  /** Replaces the response of /console/config.json. */
  config?: object;
}

export interface OpenPage extends Page {
  monitor: ErrorMonitor;
}

let browser: Promise<Browser> | undefined;

/** One browser for all files of a worker; it ends with the worker. */
function sharedBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: browserPath(), args: BROWSER_ARGS });
  return browser;
}

class App {
  #server: ServerHandle | undefined;
  #pages: OpenPage[] = [];

  get url(): string {
    if (!this.#server) throw new Error('the server is not started');
    return this.#server.url;
  }

  async start(): Promise<void> {
    this.#server = await withConsole(await startServer());
    await sharedBrowser();
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  async open(path: string, options: OpenOptions = {}): Promise<OpenPage> {
    const { as = 'ada', width = 1440, height = 900, theme = 'light', locale = 'en-US', config } = options;
    const context = await (
      await sharedBrowser()
    ).newContext({
      viewport: { width, height },
      colorScheme: theme,
      locale,
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(ACTION_TIMEOUT_MS);
    await context.addInitScript((userId) => localStorage.setItem('portico.acting-as', userId), as);
    await context.addInitScript(reportCspViolations);
    if (config) await context.route('**/console/config.json', (route) => route.fulfill({ json: config }));
    const page = (await context.newPage()) as OpenPage;
    page.monitor = new ErrorMonitor(page);
    this.#pages.push(page);
    await page.goto(`${this.url}/console${path}`);
    await page.locator('h1').waitFor();
    return page;
  }

  /** Closes the test's pages and fails if one of them recorded an error. */
  async closePages(): Promise<void> {
    const pages = this.#pages.splice(0);
    const errors = pages.flatMap((page) => page.monitor.errors);
    await Promise.all(pages.map((page) => page.context().close()));
    expect(errors.join('\n')).toBe('');
  }

  /** Posts to the API, to prepare test data. */
  async post<T = unknown>(path: string, body: object, headers: Record<string, string> = {}): Promise<T> {
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json() as Promise<T>;
  }

  /** Writes a file into the server's data folder. */
  async write(name: string, bytes: Uint8Array): Promise<void> {
    if (!this.#server) throw new Error('the server is not started');
    await writeFile(join(this.#server.data, name), bytes);
  }

  /** Headers with a user's bearer token. */
  async tokenHeaders(userId: string): Promise<Record<string, string>> {
    const { token } = await this.post<{ token: string }>('/v1/sandbox/sessions', { userId });
    return { authorization: `Bearer ${token}` };
  }

  /** A token with the admin scope, issued by the CLI. */
  async adminToken(userId: string): Promise<string> {
    if (!this.#server) throw new Error('the server is not started');
    return this.#server.run('token', '--sub', userId, '--scope', 'admin');
  }

  /** Headers with a user's API key, for /stage. */
  async keyHeaders(userId: string): Promise<Record<string, string>> {
    const { apiKey } = await this.post<{ apiKey: string }>('/v1/sandbox/sessions', { userId });
    return { 'x-api-key': apiKey };
  }
}

/** Covers the start of the server and `prepare`. */
const START_TIMEOUT_MS = 300_000;

/** Starts one server per test file, because the tests assert totals. */
export function useConsole(prepare?: (app: App) => Promise<void>): App {
  const app = new App();
  const start = async () => {
    await app.start();
    await prepare?.(app);
  };
  beforeAll(start, START_TIMEOUT_MS);
  // A retry needs a fresh server without the data of the first attempt.
  beforeEach(async ({ task }) => {
    if (!task.result?.retryCount) return;
    await app.stop();
    await start();
  }, START_TIMEOUT_MS);
  afterEach(() => app.closePages());
  afterAll(() => app.stop());
  return app;
}
