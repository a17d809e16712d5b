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
  prepare?: (page: Page) => Promise<unknown>;
}

const FOLDER = process.env.PORTICO_SHOTS ?? 'e2e/shots';
const SELECTED_PAGES = process.env.PORTICO_SHOTS_PAGES?.split(',');
const VIEWPORTS = { desktop: [1440, 900], phone: [390, 844] } as const;

const click = (role: 'button' | 'link' | 'tab', name: string | RegExp) => (page: Page) =>
  page.getByRole(role, { name }).first().click();

const CSV = `network,deviceIdentifier
Helium,hs-0001
Helium,hs-0001
,hs-0002
Filecoin,fil-77`;

const EMPTY_SCENES: Scene[] = [
  { name: 'empty-home', path: '/' },
  { name: 'empty-overview', path: '/overview' },
  { name: 'empty-listings', path: '/listings' },
  { name: 'empty-my-listings', path: '/my-listings' },
  { name: 'empty-saved', path: '/saved' },
  { name: 'empty-portfolios', path: '/portfolios' },
  { name: 'empty-my-portfolios', path: '/portfolios?tab=mine' },
  { name: 'empty-devices', path: '/devices' },
  { name: 'empty-results', path: '/screening?tab=results' },
  { name: 'empty-required', path: '/screening?tab=pipeline' },
];

const SEEDED_SCENES: Scene[] = [
  { name: 'home-landlord', path: '/' },
  { name: 'home-applicant', path: '/', as: 'ben' },
  { name: 'home-investor', path: '/', as: 'chloe' },
  {
    name: 'home-developer',
    path: '/',
    as: 'dev',
    prepare: async (page) => {
      await page.getByLabel('Show the home page of').selectOption('Developer');
    },
  },
  { name: 'overview', path: '/overview' },
  { name: 'listings', path: '/listings' },
  { name: 'listings-filters', path: '/listings', prepare: click('button', /^Filters/) },
  { name: 'listing', path: '/listings/austin-1', as: 'ben' },
  { name: 'my-listings', path: '/my-listings' },
  { name: 'my-listings-new', path: '/my-listings/new' },
  { name: 'my-listing', path: '/my-listings/austin-1' },
  { name: 'my-listing-decline', path: '/my-listings/austin-1', prepare: click('button', /^Decline/) },
  { name: 'my-listing-edit', path: '/my-listings/austin-1/edit' },
  { name: 'saved', path: '/saved' },
  { name: 'my-data', path: '/my-data', as: 'ben' },
  { name: 'qualify', path: '/listings/dallas-3', as: 'ben', prepare: click('button', 'Do I qualify?') },
  { name: 'applications', path: '/applications', as: 'ben' },
  { name: 'application', path: '/applications', as: 'ben', prepare: click('link', '12 Elm Road') },
  { name: 'application-declined', path: '/applications', as: 'ben', prepare: click('link', '25 Cedar Lane') },
  { name: 'screening', path: '/screening' },
  { name: 'screening-results', path: '/screening?tab=results', as: 'ben' },
  { name: 'screening-result', path: '/screening?tab=results', as: 'ben', prepare: click('link', /All checks passed/) },
  { name: 'screening-refused', path: '/screening?tab=results', as: 'ben', prepare: click('link', /Not passed/) },
  { name: 'screening-required', path: '/screening?tab=pipeline' },
  { name: 'screening-applicant', path: '/screening?tab=identifier', as: 'ben' },
  { name: 'screening-data', path: '/screening?tab=data', as: 'ben' },
  { name: 'portfolios', path: '/portfolios' },
  { name: 'portfolios-mine', path: '/portfolios?tab=mine', as: 'chloe' },
  { name: 'portfolio-new', path: '/portfolios/new' },
  { name: 'portfolio-editor', path: '/portfolios?tab=mine', as: 'chloe', prepare: click('link', /^Edit /) },
  { name: 'templates', path: '/portfolios', as: 'operator' },
  { name: 'template-editor', path: '/portfolios', as: 'operator', prepare: click('link', /^Edit the template/) },
  { name: 'template', path: '/portfolios', as: 'chloe', prepare: click('link', 'Moderate income') },
  {
    name: 'portfolio-compare',
    path: '/portfolios/compare',
    prepare: async (page) => {
      for (const name of [
        'Moderate income · Template',
        'Aggressive income · Template',
        'Conservative income · Template',
      ]) {
        await page.getByRole('combobox', { name: 'Add to the comparison' }).click();
        await page.getByRole('option', { name, exact: true }).click();
      }
    },
  },
  { name: 'devices', path: '/devices' },
  { name: 'devices-networks', path: '/devices?tab=networks', as: 'operator' },
  { name: 'devices-register', path: '/devices', prepare: click('button', 'Register a device') },
  {
    name: 'devices-import',
    path: '/devices/import',
    prepare: (page) => page.getByRole('textbox').first().fill(CSV),
  },
  { name: 'chain', path: '/chain' },
  { name: 'chain-block', path: '/chain', prepare: click('link', /^\d+$/) },
  {
    name: 'chain-transaction',
    path: '/chain',
    prepare: async (page) => {
      await click('link', /^\d+$/)(page);
      await page.locator('a[href*="/chain/transactions/"]').first().click();
    },
  },
  {
    name: 'chain-address',
    path: '/chain',
    prepare: click('link', 'Listing registry'),
  },
  { name: 'api', path: '/api' },
  {
    name: 'api-try',
    path: '/api?tab=operations&q=listBlocks',
    prepare: async (page) => {
      await page.getByText('/v1/chain/blocks', { exact: true }).click();
      await click('button', 'Send')(page);
    },
  },
  { name: 'palette', path: '/listings', prepare: (page) => page.keyboard.press('Control+k') },
  { name: 'shortcuts', path: '/listings', prepare: (page) => page.keyboard.press('?') },
  {
    name: 'api-new-key',
    path: '/api',
    prepare: async (page) => {
      await page.getByLabel('What it is for').fill('My laptop');
      await click('button', 'Create key')(page);
    },
  },
  { name: 'api-operations', path: '/api?tab=operations' },
  { name: 'api-examples', path: '/api?tab=examples' },
  { name: 'people', path: '/', prepare: click('button', /^Acting as/) },
  { name: 'operator-home', path: '/', as: 'operator' },
  {
    name: 'operator-audit',
    path: '/operator/audit',
    as: 'operator',
    prepare: click('button', 'Verify the log'),
  },
  { name: 'operator-users', path: '/operator/users?user=ben', as: 'operator' },
  { name: 'operator-keys', path: '/operator/keys', as: 'operator' },
  { name: 'operator-configuration', path: '/operator/configuration', as: 'operator' },
  { name: 'nowhere', path: '/nowhere' },
];

const app = useConsole();

async function takeScreenshots({ name, path, as, prepare }: Scene): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    const page = await app.open(path, { as, theme });
    await prepare?.(page);
    for (const [size, [width, height]] of Object.entries(VIEWPORTS)) {
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(500);
      await page.screenshot({ path: `${FOLDER}/${name}-${size}-${theme}.png` });
    }
    await page.context().close();
  }
}

test('screenshots of every page', { timeout: 1_200_000 }, async () => {
  mkdirSync(FOLDER, { recursive: true });
  const isSelected = (scene: Scene) => !SELECTED_PAGES || SELECTED_PAGES.includes(scene.name);
  for (const scene of EMPTY_SCENES.filter(isSelected)) await takeScreenshots(scene);
  await seed(app);
  for (const scene of SEEDED_SCENES.filter(isSelected)) await takeScreenshots(scene);
});
