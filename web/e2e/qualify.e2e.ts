// "Do I qualify?" on a home, before applying.
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { recordListing, requireChecks, verify } from './harness/applications';
import { newListing } from './harness/listings';

const app = useConsole(async (app) => {
  await recordListing(app, 'oak-1');
  await recordListing(app, 'oak-2', { minCredit: 730, prefCredit: 740, minIncome: 95_000, prefIncome: 95_000 });
  await app.post('/listings', newListing('free-1', { userId: 'ada' }));
  await app.post('/listings', newListing('elm-1', { userId: 'chloe' }));
});

test('without a result nothing is checked, and a link leads to verifying', async () => {
  const page = await app.open('/listings/oak-1', { as: 'zoe' });
  await page.getByRole('button', { name: 'Do I qualify?' }).click();
  for (const term of ['Minimum credit 620', 'Preferred credit 700', 'Minimum income $50,000 a year'])
    await page.getByText(`${term}: not checked`).waitFor();
  await page.getByText('Verify yourself to know about the rest.').waitFor();
  await axe(page);
  const link = page.getByRole('link', { name: 'Verify yourself' });
  expect(await link.getAttribute('href')).toBe('/console/screening?home=oak-1');
});

test('one request compares own findings, credit too, before any application', async () => {
  await verify(app, 'ben', 'case-1');
  const page = await app.open('/listings/oak-1', { as: 'ben' });
  await page.getByText('Matches the chain').waitFor();
  await page.waitForLoadState('networkidle');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.getByRole('button', { name: 'Do I qualify?' }).click();
  await page.getByText('Minimum credit 620: met').waitFor();
  await page.getByText('Preferred credit 700: met').waitFor();
  await page.getByText('Minimum income $50,000 a year: met').waitFor();
  await page.getByText('Preferred income $90,000 a year: not met').waitFor();
  await page.getByText('You meet what this home asks for.').waitFor();
  await page.waitForLoadState('networkidle');
  expect(asked).toEqual(['GET /v1/listings/oak-1/qualification']);
  await axe(page);

  const other = await app.open('/listings/oak-2', { as: 'ben' });
  await other.getByRole('button', { name: 'Do I qualify?' }).click();
  await other.getByText('Minimum credit 730: not met').waitFor();
  await other.getByText('Minimum income $95,000 a year: not met').waitFor();
  await other.getByText('You do not meet every minimum.').waitFor();
});

test('the checks that the landlord requires are compared too', async () => {
  await requireChecks(app, 'chloe', 'chloe-client', { EvictionCheck: true, SoftCreditCheck: true });
  await verify(app, 'mia', 'case-2');
  const page = await app.open('/listings/elm-1', { as: 'mia' });
  await page.getByRole('button', { name: 'Do I qualify?' }).click();
  await page.getByText('Eviction: Passed').waitFor();
  await page.getByText('Credit: Passed').waitFor();
  await page.getByText(/^You meet what this home asks for\. Your results are valid until/).waitFor();
  expect(await page.getByText(/Minimum/).count()).toBe(0);
  await axe(page);
  const stranger = await app.open('/listings/elm-1', { as: 'zoe' });
  await stranger.getByRole('button', { name: 'Do I qualify?' }).click();
  await stranger.getByText('Eviction: Not checked').waitFor();
  await stranger.getByRole('link', { name: 'Verify yourself' }).waitFor();
});

test('a home that asks for nothing says so', async () => {
  const page = await app.open('/listings/free-1', { as: 'ben' });
  await page.getByRole('button', { name: 'Do I qualify?' }).click();
  await page.getByText('This home asks for no score, no income and no check.').waitFor();
});

test.each(['en-US', 'es-MX'])('it fits and is accessible in %s', async (locale) => {
  for (const width of [320, 1440]) {
    const page = await app.open('/listings/oak-2', { as: 'ben', locale, width });
    await page.getByRole('button', { name: /Do I qualify|Cumplo los requisitos/ }).click();
    await page
      .getByText(/95[,.]000/)
      .first()
      .waitFor();
    await axe(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }
});

test('after verifying, the way leads back to the home', async () => {
  const page = await app.open('/listings/oak-1', { as: 'fay' });
  await page.getByRole('button', { name: 'Do I qualify?' }).click();
  await page.getByRole('link', { name: 'Verify yourself' }).click();
  await page.getByRole('button', { name: 'Good applicant' }).click();
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('You verified yourself to apply for oak-1 Street.').waitFor();
  await axe(page);
  await page.getByRole('link', { name: 'Back to the home' }).click();
  await page.getByRole('heading', { level: 1, name: 'oak-1 Street' }).waitFor();
  await page.getByRole('button', { name: 'Do I qualify?' }).click();
  await page.getByText('Minimum income $50,000 a year: met').waitFor();
});
