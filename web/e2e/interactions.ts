// How quickly the console answers: `npm run interactions` clicks and types through the pages with many listings stored, and
// prints the time from each input to the next frame. It fails if the first view is too heavy. PORTICO_LISTINGS says how many; a release build (PORTICO_BIN) stores them
// faster.
import { brotliCompressSync } from 'node:zlib';
import type { Page, Response } from 'playwright-core';
import { expect, test } from 'vitest';
import { useConsole } from './harness';
import { storeListings } from './harness/listings';

/** What the first view may weigh, the lazily loaded map aside. */
const MAX_FIRST_VIEW_BYTES = 300_000;
const LISTINGS = Number(process.env.PORTICO_LISTINGS ?? 100_000);
/** Shorter events are not reported; interactions without a report count as this long. */
const THRESHOLD_MS = 16;
/** Files of the map, which is loaded lazily. */
const MAP_FILES = /MapView|leaflet|streets|countries|states|counties/;

const app = useConsole((app) => storeListings(app, LISTINGS));
const count = LISTINGS.toLocaleString('en-US');

interface Recorded {
  durations: number[];
  total: number;
}

declare global {
  interface Window {
    interactions: Map<number, number>;
  }
  // TypeScript's own declaration does not have it yet.
  interface PerformanceEventTiming {
    readonly interactionId: number;
  }
}

/** Chromium's event timing, of which an interaction has several: the longest counts. */
async function record(page: Page): Promise<() => Promise<Recorded>> {
  await page.evaluate((durationThreshold) => {
    window.interactions = new Map();
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as PerformanceEventTiming[])
        if (entry.interactionId)
          window.interactions.set(
            entry.interactionId,
            Math.max(window.interactions.get(entry.interactionId) ?? 0, entry.duration),
          );
    }).observe({ type: 'event', durationThreshold } as PerformanceObserverInit);
  }, THRESHOLD_MS);
  return () =>
    page.evaluate(() => ({
      durations: [...window.interactions.values()],
      total: (performance as unknown as { interactionCount: number }).interactionCount,
    }));
}

function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

async function search(page: Page): Promise<void> {
  const field = page.getByRole('searchbox', { name: 'Search homes' });
  await field.pressSequentially('denver', { delay: 60 });
  await page.waitForURL(/q=denver/);
  await page.getByRole('combobox', { name: 'Sort by' }).selectOption('Lowest rent first');
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByLabel('Bedrooms', { exact: true }).selectOption('2 or more');
  await page.getByLabel('Rent up to').pressSequentially('1800', { delay: 60 });
  await page.getByRole('button', { name: /Remove: Up to/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Clear all' }).click();
  await field.fill('');
}

async function moveMap(page: Page): Promise<void> {
  const map = page.getByRole('application', { name: 'Homes on the map' });
  for (let step = 0; step < 3; step++) {
    await map.locator('.map-cluster').first().click();
    await page.waitForTimeout(600);
  }
  for (const key of ['ArrowLeft', 'ArrowRight', '-', '-']) await map.press(key);
  await page.waitForTimeout(600);
}

async function openHomes(page: Page): Promise<void> {
  const homes = page.getByRole('region', { name: 'Homes', exact: true });
  for (let row = 0; row < 3; row++) {
    await homes.getByRole('link').nth(row).click();
    await page.getByRole('heading', { name: 'Requirements' }).waitFor();
    await page.goBack();
    await homes.getByRole('link').first().waitFor();
  }
}

async function seeOtherPages(page: Page): Promise<void> {
  for (const name of ['Portfolios', 'Devices', 'Chain', 'Listings']) {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  }
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('portfolio', { delay: 60 });
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
}

test(`interactions with ${count} listings`, { timeout: 600_000 }, async () => {
  const page = await app.open('/listings');
  await page.getByText(/^[\d,]+\+? homes$/).waitFor();
  await page.locator('.map-cluster').first().waitFor();
  const recorded = await record(page);
  const parts = { search, moveMap, openHomes, seeOtherPages };
  for (const part of Object.values(parts)) await part(page);
  const { durations, total } = await recorded();
  const all = [...durations, ...Array<number>(Math.max(0, total - durations.length)).fill(THRESHOLD_MS)];
  const [half, most, worst] = [0.5, 0.95, 1].map((share) => percentile(all, share));
  console.log(
    `${all.length} interactions with ${count} listings: median ${half} ms, p95 ${most} ms, longest ${worst} ms`,
  );
  expect(all.length).toBeGreaterThan(40);
});

/** As it is sent: the proxy of the tests does not compress. */
async function weigh(pathname: string, response: Response): Promise<number> {
  const body = await response.body().catch(() => Buffer.alloc(0));
  return /\.(js|css|svg|html)$/.test(pathname) ? brotliCompressSync(body).length : body.length;
}

test(`the first view of ${count} listings`, async () => {
  const page = await app.open('/not-found');
  const sizes: Promise<number>[] = [];
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (!MAP_FILES.test(pathname)) sizes.push(weigh(pathname, response));
  });
  await page.goto(`${app.url}/console/listings`);
  await page.locator('.map-cluster').first().waitFor();
  await page.waitForLoadState('networkidle');
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  console.log(`first view of ${count} listings: ${total} bytes in ${sizes.length} responses, the map aside`);
  expect(total).toBeLessThanOrEqual(MAX_FIRST_VIEW_BYTES);
});
