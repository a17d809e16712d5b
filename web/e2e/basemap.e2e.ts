// Maps with and without a street map.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { basemapFile } from './harness/basemap';
import { newListing } from './harness/listings';

const app = useConsole(async (app) => {
  await app.post('/listings', newListing('austin', { streetAddress: '1 Congress Avenue' }));
});

/** Zooms the map of a listing from the state to the city. */
async function zoomIn(page: Page, times: number): Promise<void> {
  const map = page.getByRole('application');
  await map.locator('.map-pin').first().waitFor();
  for (let i = 0; i < times; i++) {
    await map.getByRole('button', { name: 'Zoom in' }).click();
    await page.waitForTimeout(350);
  }
}

/** The colours of the drawn tiles, as numbers of pixels. */
function coloursOfTiles(page: Page): Promise<Record<string, number>> {
  return page.evaluate(() => {
    const colours: Record<string, number> = {};
    for (const tile of document.querySelectorAll<HTMLCanvasElement>('canvas.leaflet-tile-loaded')) {
      const data = tile.getContext('2d')?.getImageData(0, 0, tile.width, tile.height).data ?? [];
      for (let i = 0; i < data.length; i += 4) {
        const colour = data.slice(i, i + 4).join(',');
        colours[colour] = (colours[colour] ?? 0) + 1;
      }
    }
    return colours;
  });
}

test('without streets cities have names, and the map says so', async () => {
  const page = await app.open('/listings/austin');
  await page.getByRole('application').locator('.map-label.city > span', { hasText: 'Austin' }).waitFor();
  expect(await page.getByText('© OpenStreetMap contributors').count()).toBe(0);
  await zoomIn(page, 6);
  await page.getByText('No street map is installed for this place.').waitFor();
  await axe(page);
});

test('with a street map the server draws streets, and names their source', async () => {
  await app.write('basemap.pmtiles', basemapFile());
  const page = await app.open('/');
  const responses: number[] = [];
  page.on('response', (response) => {
    if (response.url().endsWith('/basemap.pmtiles')) responses.push(response.status());
  });
  await page.goto(`${app.url}/console/listings/austin`);
  await page.getByRole('link', { name: '© OpenStreetMap contributors' }).waitFor();
  await zoomIn(page, 6);
  await expect.poll(async () => (await coloursOfTiles(page))['227,235,234,255'] ?? 0).toBeGreaterThan(1000);
  const colours = await coloursOfTiles(page);
  expect(Object.keys(colours).length, 'land, water, roads and letters').toBeGreaterThan(20);
  expect(await page.getByText('No street map is installed').count()).toBe(0);
  expect(responses.length).toBeGreaterThan(1);
  expect([...new Set(responses)]).toEqual([206]);
  await axe(page);

  await page.getByRole('button', { name: /theme/i }).click();
  await expect.poll(async () => (await coloursOfTiles(page))['21,28,29,255'] ?? 0).toBeGreaterThan(1000);
});

test('the street map is not loaded where there is no map', async () => {
  const page = await app.open('/');
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(request.url()));
  await page.reload();
  await page.waitForLoadState('networkidle');
  expect(loaded.filter((url) => /streets|pmtiles|leaflet/.test(url))).toEqual([]);
});
