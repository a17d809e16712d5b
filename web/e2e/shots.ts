// Screenshots of all pages in both themes, at phone and desktop width: `npm run shots` writes them to e2e/shots/.
// PORTICO_SHOTS_PAGES=listing,chain selects pages.
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { test } from 'vitest';
import { useConsole } from './harness';
import { seed } from './harness/seed';

interface Scene {
  name: string;
  path: string;
  as?: string;
  /** Actions before the screenshot. */
  act?: (page: Page) => Promise<unknown>;
}

const FOLDER = process.env.PORTICO_SHOTS ?? 'e2e/shots';
const ONLY = process.env.PORTICO_SHOTS_PAGES?.split(',');
const SIZES = { desktop: [1440, 900], phone: [390, 844] } as const;

const press = (role: 'button' | 'link' | 'tab', name: string | RegExp) => (page: Page) =>
  page.getByRole(role, { name }).first().click();

const CSV = `network,deviceIdentifier
Helium,hs-0001
Helium,hs-0001
,hs-0002
Filecoin,fil-77`;

const EMPTY: Scene[] = [
  { name: 'empty-overview', path: '/' },
  { name: 'empty-listings', path: '/listings' },
  { name: 'empty-my-listings', path: '/my-listings' },
  { name: 'empty-saved', path: '/saved' },
  { name: 'empty-portfolios', path: '/portfolios' },
  { name: 'empty-my-portfolios', path: '/portfolios?tab=mine' },
  { name: 'empty-devices', path: '/devices' },
  { name: 'empty-results', path: '/screening?tab=results' },
  { name: 'empty-pipeline', path: '/screening?tab=pipeline' },
];

const FULL: Scene[] = [
  { name: 'overview', path: '/' },
  { name: 'listings', path: '/listings' },
  { name: 'listings-filters', path: '/listings', act: press('button', /^Filters/) },
  { name: 'listing', path: '/listings/austin-1', as: 'ben' },
  { name: 'my-listings', path: '/my-listings' },
  { name: 'my-listings-new', path: '/my-listings/new' },
  { name: 'applicants', path: '/my-listings?applicants=austin-1' },
  { name: 'saved', path: '/saved' },
  { name: 'applications', path: '/applications', as: 'ben' },
  { name: 'screening', path: '/screening' },
  { name: 'screening-results', path: '/screening?tab=results', as: 'ben' },
  { name: 'screening-result', path: '/screening?tab=results', as: 'ben', act: press('link', /All checks passed/) },
  { name: 'screening-refused', path: '/screening?tab=results', as: 'ben', act: press('link', /not passed/) },
  { name: 'screening-pipeline', path: '/screening?tab=pipeline' },
  { name: 'screening-identifier', path: '/screening?tab=identifier', as: 'ben' },
  { name: 'screening-data', path: '/screening?tab=data', as: 'ben' },
  { name: 'portfolios', path: '/portfolios' },
  { name: 'portfolios-mine', path: '/portfolios?tab=mine' },
  { name: 'portfolio-new', path: '/portfolios/new' },
  { name: 'portfolio-editor', path: '/portfolios?tab=mine', act: press('link', /^Edit /) },
  { name: 'templates', path: '/portfolios', as: 'operator' },
  { name: 'template-editor', path: '/portfolios', as: 'operator', act: press('link', /^Edit the template/) },
  { name: 'template', path: '/portfolios', as: 'chloe', act: press('link', 'Moderate income') },
  { name: 'devices', path: '/devices' },
  { name: 'devices-networks', path: '/devices?tab=networks' },
  { name: 'devices-register', path: '/devices', act: press('button', 'Register a device') },
  {
    name: 'devices-import',
    path: '/devices/import',
    act: (page) => page.getByRole('textbox').first().fill(CSV),
  },
  { name: 'chain', path: '/chain' },
  { name: 'chain-block', path: '/chain', act: press('link', /^\d+$/) },
  {
    name: 'chain-transaction',
    path: '/chain',
    act: async (page) => {
      await press('link', /^\d+$/)(page);
      await page.locator('a[href*="/chain/transactions/"]').first().click();
    },
  },
  { name: 'api', path: '/api' },
  {
    name: 'api-new-key',
    path: '/api',
    act: async (page) => {
      await page.getByLabel('What it is for').fill('My laptop');
      await press('button', 'Create key')(page);
    },
  },
  { name: 'api-operations', path: '/api?tab=operations' },
  { name: 'api-examples', path: '/api?tab=examples' },
  { name: 'people', path: '/', act: press('button', /^Acting as/) },
  { name: 'nowhere', path: '/nowhere' },
];

const app = useConsole();

async function take({ name, path, as, act }: Scene): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    const page = await app.open(path, { as, theme });
    await act?.(page);
    for (const [size, [width, height]] of Object.entries(SIZES)) {
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(500);
      await page.screenshot({ path: `${FOLDER}/${name}-${size}-${theme}.png` });
    }
    await page.context().close();
  }
}

test('screenshots of every page', { timeout: 1_200_000 }, async () => {
  mkdirSync(FOLDER, { recursive: true });
  const wanted = (scene: Scene) => !ONLY || ONLY.includes(scene.name);
  for (const scene of EMPTY.filter(wanted)) await take(scene);
  await seed(app);
  for (const scene of FULL.filter(wanted)) await take(scene);
});
