// Words without an end, and text that changes its direction: no page is wider than the window, and what somebody typed
// does not turn the words around it.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { applyFor, recordListing } from './harness/applications';

const app = useConsole();
const LONG = 'W'.repeat(255);
const LANDLORD = 'l'.repeat(200);

async function storeLongData(): Promise<string[]> {
  const state = LONG.slice(0, 100);
  const address = { addressStreet: LONG, addressCity: state, addressState: state, addressPostal: LONG };
  await recordListing(app, LONG, { userId: LANDLORD, ...address });
  await recordListing(app, 'short', { userId: 'ada', ...address });
  await applyFor(app, LANDLORD, 'short');
  await app.post('/stage/savedListings', { userId: LANDLORD, listingId: LONG }, await app.keyHeaders(LANDLORD));
  const items = [{ protocolName: LONG, protocolIdentifier: LONG, allocationPercentage: 40 }];
  const portfolio = { name: LONG, description: LONG, riskLevel: 'Moderate', protocolItems: items };
  const template = await app.post<{ predefinedPortfolioId: string }>('/v1/predefined-portfolio', portfolio);
  const own = await app.post<{ userPortfolioId: string }>('/v1/user-portfolio', {
    ...portfolio,
    userId: LANDLORD,
    isCustom: true,
  });
  await app.post('/v1/depin-device', { userId: LANDLORD, network: LONG, deviceIdentifier: LONG });
  await app.post('/v1/keys', { name: LONG }, await app.tokenHeaders(LANDLORD));
  return [
    '/',
    '/listings',
    `/listings/${LONG}`,
    '/my-listings',
    `/my-listings/${LONG}`,
    `/my-listings/${LONG}/edit`,
    '/saved',
    '/applications',
    '/portfolios',
    '/portfolios?tab=mine',
    `/portfolios/${own.userPortfolioId}`,
    `/portfolios/templates/${template.predefinedPortfolioId}`,
    `/portfolios/compare?ids=${own.userPortfolioId},${template.predefinedPortfolioId}`,
    '/devices',
    `/screening?client=${LONG}`,
    '/api',
    `/${LONG}`,
  ];
}

const widthOf = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth);

test('no page is wider than the window, whatever somebody typed', { timeout: 300_000 }, async () => {
  const paths = await storeLongData();
  const wide: string[] = [];
  for (const width of [320, 1440]) {
    const page = await app.open('/', { as: LANDLORD, width, height: 800 });
    for (const path of paths) {
      await page.goto(`${app.url}/console${path}`);
      await page.locator('h1').waitFor();
      await page.waitForTimeout(400);
      const found = await widthOf(page);
      if (found > width) wide.push(`${path.slice(0, 60)} at ${width}: ${found}`);
    }
  }
  expect(wide).toEqual([]);
});

test('direction marks of an older record turn nothing around them', async () => {
  const turned = '\u202eteertS kaO 12';
  await recordListing(app, 'turned');
  const page = await app.open('/', { as: 'ben' });
  await page.route(/\/listings\?/, async (route) => {
    const response = await route.fetch();
    const listings = (await response.json()) as Record<string, unknown>[];
    const changed = listings.map((one) => ({ ...one, streetAddress: turned, city: turned, state: turned }));
    await route.fulfill({ response, json: changed });
  });
  await page.goto(`${app.url}/console/listings`);
  const row = page.getByRole('article').first();
  await row.waitFor();
  // What contains the text contains nothing else, and is isolated.
  const holders = await row.evaluate((article) =>
    [...article.querySelectorAll('*')]
      .filter((element) =>
        [...element.childNodes].some((node) => node.nodeType === 3 && /\u202e/.test(node.nodeValue ?? '')),
      )
      .map((element) => [element.textContent, getComputedStyle(element).unicodeBidi]),
  );
  expect(holders).toEqual(Array(3).fill([turned, 'isolate']));
  await axe(page);
});
