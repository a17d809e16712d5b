// Portfolios and templates side by side, and the home page of an investor.
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';

const app = useConsole();

const item = (protocolName: string, allocationPercentage: number) => ({
  protocolName,
  protocolIdentifier: protocolName.toLowerCase(),
  allocationPercentage,
});

async function createTemplate(name: string, items: object[], riskLevel = 'Moderate'): Promise<string> {
  const body = { name, riskLevel, protocolItems: items };
  return (await app.post<{ predefinedPortfolioId: string }>('/v1/predefined-portfolio', body)).predefinedPortfolioId;
}

async function createPortfolio(userId: string, name: string, items: object[], more: object = {}): Promise<string> {
  const body = { userId, name, riskLevel: 'Aggressive', isCustom: true, protocolItems: items, ...more };
  return (await app.post<{ userPortfolioId: string }>('/v1/user-portfolio', body)).userPortfolioId;
}

const rowOf = async (page: Awaited<ReturnType<typeof app.open>>, name: string | RegExp) => {
  const row = page.getByRole('row', { name });
  await row.waitFor();
  return row.getByRole('cell').allInnerTexts();
};

test('shares are compared by network, with differences in words', async () => {
  const template = await createTemplate('Reference mix', [item('Filecoin', 60), item('Helium', 30), item('Storj', 5)]);
  const own = await createPortfolio('cora', 'My mix', [item('filecoin', 80), item('Render', 15), item('Storj', 5)]);
  const page = await app.open(`/portfolios/compare?ids=${template},${own}`, { as: 'cora' });
  await page.getByText('3 networks differ.').waitFor();
  expect(await rowOf(page, /^Filecoin/)).toEqual(['60%', '80%\n20 points more']);
  expect(await rowOf(page, /^Helium/)).toEqual(['30%', 'Not in this one']);
  expect(await rowOf(page, /^Render/)).toEqual(['Not in it', '15%\nNot in the first']);
  expect(await rowOf(page, /^Storj/)).toEqual(['5%', '5%\nThe same']);
  expect(await rowOf(page, /^Risk/)).toEqual(['Moderate', 'Aggressive']);
  await axe(page);

  await page.getByRole('switch', { name: 'Only differences' }).click();
  await page.getByRole('row', { name: /^Storj/ }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Compare with this: My mix' }).click();
  await page.getByText('20 points less').waitFor();
  expect(new URL(page.url()).searchParams.get('ids')).toBe(`${own},${template}`);
  await page.getByRole('button', { name: 'Take Reference mix out of the comparison' }).click();
  await page.getByText('Add a second one to see the differences.').waitFor();
  await axe(page);
});

test('portfolios are added from the page, and four are the most', async () => {
  for (const name of ['One', 'Two', 'Three', 'Four', 'Five']) await createPortfolio('many', name, [item('Helium', 50)]);
  const page = await app.open('/portfolios/compare', { as: 'many' });
  await page.getByRole('heading', { name: 'Choose what to compare' }).waitFor();
  await axe(page);
  for (const name of ['One', 'Two', 'Three', 'Four']) {
    await page.getByRole('combobox', { name: 'Add to the comparison' }).click();
    await page.getByRole('option', { name: `${name} · Portfolio` }).click();
    await page.getByRole('columnheader', { name: new RegExp(`^${name}`) }).waitFor();
  }
  await page.getByText('Four is the most that fits.').waitFor();
  expect(await page.getByRole('combobox', { name: 'Add to the comparison' }).count()).toBe(0);
  await page.getByText('0 networks differ.').waitFor();
  await page.goBack();
  await page.getByRole('columnheader', { name: /^Four/ }).waitFor({ state: 'detached' });
});

test('cards are chosen by checkboxes, and a copy says how it differs', async () => {
  const template = await createTemplate('Origin', [item('Filecoin', 60), item('Helium', 40)]);
  const changed = [item('Filecoin', 70), item('Render', 30)];
  await createPortfolio('chip', 'Descendant', changed, { basedOnPredefinedId: template });
  const page = await app.open('/portfolios', { as: 'chip' });
  await page.getByRole('checkbox', { name: 'Compare Origin' }).check();
  await page.getByRole('tab', { name: 'My portfolios' }).click();
  await page.getByRole('checkbox', { name: 'Compare Descendant' }).check();
  await page.getByText('2 chosen').waitFor();
  await axe(page);
  await page.getByRole('link', { name: 'Compare them' }).click();
  await page.getByText('3 networks differ.').waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByText('2 chosen').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Descendant', exact: true }).click();
  await page.getByRole('heading', { name: 'Difference from the template' }).waitFor();
  await page.getByText('60% in the template, 70% here').waitFor();
  await page.getByText('none in the template, 30% here').waitFor();
  await page.getByText('Risk: Moderate in the template, Aggressive here').waitFor();
  await page.getByRole('button', { name: 'Risk levels explained' }).click();
  await page.getByText('The whole stake can be lost.').waitFor();
  await axe(page);
});

test('the picker suggests networks, and takes any other name', async () => {
  await createPortfolio('pia', 'Mine', [item('My own net', 10)]);
  const page = await app.open('/portfolios/new', { as: 'pia' });
  const field = page.getByRole('combobox', { name: 'Protocol', exact: true });
  await field.click();
  await page.getByRole('option', { name: 'My own net' }).waitFor();
  await axe(page);
  await field.fill('wea');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  expect(await field.inputValue()).toBe('WeatherXM');
  expect(await page.getByLabel('Identifier').inputValue()).toBe('wxm');
  await field.fill('Something else');
  await page.keyboard.press('Escape');
  await page.getByLabel('Identifier').focus();
  expect(await field.inputValue()).toBe('Something else');
  expect(await page.getByRole('listbox', { name: 'Known networks' }).count()).toBe(0);
});

test('what is not there is said, and hostile names stay text', async () => {
  const hostile = `<img src=x onerror="document.title='hacked'">${'W'.repeat(200)}`;
  const one = await createPortfolio('mallory', hostile, [item(hostile, 40)]);
  for (const width of [320, 1440]) {
    const page = await app.open('/portfolios', { as: 'mallory', width });
    page.monitor.allow(/404/);
    await page.goto(`${app.url}/console/portfolios/compare?ids=${one},nothing-here`);
    await page.getByText('One of them is not there').waitFor();
    await page.getByRole('columnheader', { name: hostile }).first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    expect(await page.locator('main img').count()).toBe(0);
    await axe(page);
  }
});

test('a network has one colour on every page', async () => {
  await createPortfolio('hue', 'First', [item('Render', 20), item('Helium', 80)]);
  const second = await createPortfolio('hue', 'Second', [item('HELIUM', 100)]);
  const page = await app.open(`/portfolios/compare?ids=${second}`, { as: 'hue' });
  const color = () => page.locator('table svg rect').first().getAttribute('fill');
  await page.locator('table svg rect').first().waitFor();
  const helium = await color();
  expect(helium).toMatch(/^var\(--network-\d+\)$/);
  await page.goto(`${app.url}/console/portfolios?tab=mine`);
  await page.getByRole('img', { name: 'What First holds' }).waitFor();
  const legend = page.getByRole('article').filter({ hasText: 'First' }).locator('li', { hasText: 'Helium' });
  expect(await legend.locator('rect').getAttribute('fill')).toBe(helium);
});

test('the investor’s home page shows portfolios, devices and new templates', async () => {
  const template = await createTemplate('Moving', [item('Filecoin', 60)]);
  await createPortfolio('ivan', 'My moving', [item('Filecoin', 60)], { basedOnPredefinedId: template });
  await createPortfolio('ivan', 'Other', [item('Helium', 60)]);
  await app.post('/v1/depin-device', { userId: 'ivan', network: 'Helium', deviceIdentifier: 'hs-1' });
  const page = await app.open('/', { as: 'ivan' });
  await page.getByText('None of the templates that you copied has changed since.').waitFor();
  await page.getByRole('link', { name: 'My moving' }).waitFor();
  await page.getByRole('heading', { name: 'Your devices by network' }).waitFor();
  await page.getByText('1 device', { exact: true }).waitFor();
  await axe(page);
  await fetch(`${app.url}/v1/predefined-portfolio/${template}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ protocolItems: [item('Filecoin', 50), item('Render', 10)] }),
  });
  await page.reload();
  await page.getByRole('link', { name: 'See the difference to Moving' }).click();
  await page.getByText('2 networks differ.').waitFor();
});

test('the history of a portfolio says what changed', async () => {
  const id = await createPortfolio('hal', 'Steady', [item('Name', 50)]);
  const page = await app.open(`/portfolios/${id}`, { as: 'hal' });
  await page.getByRole('heading', { name: 'History' }).waitFor();
  await page.getByText('Created', { exact: true }).waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Steadier');
  await page.getByLabel('Share in %').first().fill('62.5');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('link', { name: 'Steadier', exact: true }).click();
  await page.getByText('Name: Steady → Steadier').waitFor();
  await page.getByText('Name: 50% → 62.5%').waitFor();
  await axe(page);
});

test('everything fits and is in Spanish too', async () => {
  const ids = [await createPortfolio('sol', 'Uno', [item('Helium', 50)]), await createPortfolio('sol', 'Dos', [])];
  for (const width of [320, 1440]) {
    const page = await app.open(`/portfolios/compare?ids=${ids.join(',')}`, { as: 'sol', width, locale: 'es-MX' });
    await page.getByText('1 red difiere.').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await axe(page);
    await page.goto(`${app.url}/console/`);
    await page.getByRole('heading', { name: 'Sus portafolios' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await axe(page);
  }
});
