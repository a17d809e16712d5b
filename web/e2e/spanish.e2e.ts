// Every page in both languages: it is accessible and fits the narrowest and the widest screen. In Spanish, no English is
// left on it.
import { describe, expect, test } from 'vitest';
import { useConsole } from './harness';
import { englishPatterns, findEnglish } from './harness/english';
import { seed } from './harness/seed';
import { expectAccessible, expectSpanish } from './harness/spanish';

const app = useConsole(seed);
const patterns = englishPatterns('es');

const PAGES: [path: string, as?: string][] = [
  ['/', 'ada'],
  ['/', 'ben'],
  ['/', 'chloe'],
  ['/', 'operator'],
  ['/', 'newcomer'],
  ['/overview'],
  ['/saved', 'ben'],
  ['/my-data', 'ben'],
  ['/portfolios/compare'],
  ['/chain'],
  ['/chain/blocks/1'],
  ['/chain/blocks/999999999'],
  ['/chain/blocks/first'],
  ['/chain/transactions/0x12'],
  ['/api'],
  ['/api?tab=operations'],
  ['/api?tab=examples'],
  ['/kit?tab=forms'],
  ['/kit?tab=overlays'],
  ['/kit?tab=lists'],
  ['/kit?tab=charts'],
  ['/nowhere'],
];

test('English is found on an English page', async () => {
  const page = await app.open('/chain', { as: 'ada' });
  await page.getByRole('heading', { name: 'Blocks' }).waitFor();
  const english = await findEnglish(page, patterns);
  for (const text of ['Blocks', 'Newest block', 'Listings', 'Skip to the content']) expect(english).toContain(text);
});

describe.each([
  { locale: 'en-US', loading: 'Loading', expectGood: expectAccessible },
  { locale: 'es-MX', loading: 'Cargando', expectGood: expectSpanish },
])('$locale', ({ locale, loading, expectGood }) => {
  test.each(PAGES)('%s of %s', async (path, as = 'ada') => {
    const page = await app.open(path, { as, locale });
    await expect.poll(() => page.getByLabel(loading).count(), { timeout: 60_000 }).toBe(0);
    await expectGood(page);
  });
});

test('the gallery, which has a part that loads for ever', async () => {
  const page = await app.open('/kit', { locale: 'es-MX' });
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expectSpanish(page);
});

test('a block and its transaction', async () => {
  interface Block {
    number: number;
    transactions: string[];
  }
  const blocks = (await (await fetch(`${app.url}/v1/chain/blocks?limit=100`)).json()) as Block[];
  const block = blocks.find(({ transactions }) => transactions.length > 0);
  const page = await app.open(`/chain/blocks/${block?.number}`, { locale: 'es-MX' });
  await page.getByText('Gas usado').waitFor();
  await page.locator('a[href*="/chain/transactions/"]').first().waitFor();
  await expectSpanish(page);
  await page.locator('a[href*="/chain/transactions/"]').first().click();
  await page.getByText('Nonce').waitFor();
  await expectSpanish(page);
});

test('faults of a form, signing in and the menu', async () => {
  const page = await app.open('/api', { locale: 'es-MX' });
  page.monitor.allow(/400/);
  await page.getByRole('button', { name: 'Crear clave' }).click();
  await page.getByText('Escriba el nombre.').waitFor();
  await expectSpanish(page);
  await page.getByRole('button', { name: /Actuando como/ }).click();
  await page.getByRole('menuitemradio', { name: 'English' }).waitFor();
  expect(await findEnglish(page, patterns)).toEqual([]);
  await page.getByRole('menuitem', { name: 'Otra persona…' }).click();
  await page.getByRole('dialog', { name: 'Iniciar sesión' }).waitFor();
  await expectSpanish(page);
});
