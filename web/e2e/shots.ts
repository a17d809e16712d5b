// Pictures of every page, both themes, phone and desktop: `npm run shots` writes them to e2e/shots/.
import { mkdirSync } from 'node:fs';
import { test } from 'vitest';
import { useConsole } from './harness';
import { seed } from './harness/seed';

const FOLDER = process.env.PORTICO_SHOTS ?? 'e2e/shots';
const PAGES = (
  process.env.PORTICO_SHOTS_PAGES ??
  '/,/listings,/listings/austin-1,/my-listings,/saved,/applications,/screening,/portfolios,/devices,/chain,/api,/nowhere'
).split(',');
const SIZES = { phone: [390, 844], desktop: [1440, 900] } as const;

const app = useConsole();

test('pictures of every page', { timeout: 600_000 }, async () => {
  mkdirSync(FOLDER, { recursive: true });
  await seed(app);
  for (const path of PAGES) {
    for (const theme of ['light', 'dark'] as const) {
      for (const [size, [width, height]] of Object.entries(SIZES)) {
        const page = await app.open(path, { width, height, theme });
        await page.waitForTimeout(700);
        const name = path === '/' ? 'overview' : path.slice(1).replaceAll(/[/?=]/g, '-');
        await page.screenshot({ path: `${FOLDER}/${name}-${size}-${theme}.png` });
        await page.context().close();
      }
    }
  }
});
