// "Do I qualify?" on a home, before applying.
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { applyFor, recordHome, verify } from './harness/applications';
import { newListing } from './harness/listings';

const app = useConsole(async (app) => {
  await recordHome(app, 'oak-1');
  await recordHome(app, 'oak-2', { minCredit: 600, prefCredit: 700, minIncome: 95_000, prefIncome: 95_000 });
  await app.post('/listings', newListing('free-1', { userId: 'ada' }));
});

test('without a result nothing is checked, and the way to a verification is shown', async () => {
  const page = await app.open('/listings/oak-1', { as: 'zoe' });
  await page.getByRole('button', { name: 'Do I qualify?' }).click();
  for (const term of ['Minimum credit 620', 'Preferred credit 700', 'Minimum income $50,000 a year'])
    await page.getByText(`${term}: not checked`).waitFor();
  await page.getByText('Verify yourself to know about the rest.').waitFor();
  await axe(page);
  const link = page.getByRole('link', { name: 'Verify yourself' });
  expect(await link.getAttribute('href')).toBe('/console/screening?home=oak-1');
});

test('the own income is compared, and other applications tell about the score', async () => {
  await verify(app, 'ben', 'case-1');
  const page = await app.open('/listings/oak-1', { as: 'ben' });
  await page.getByText('Matches the chain').waitFor();
  await page.waitForLoadState('networkidle');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.getByRole('button', { name: 'Do I qualify?' }).click();
  await page.getByText('Minimum income $50,000 a year: met').waitFor();
  await page.getByText('Preferred income $90,000 a year: not met').waitFor();
  await page.getByText('Minimum credit 620: checked, and compared when you apply').waitFor();
  // The user's own results, and nothing that tells the landlord.
  expect(asked.filter((call) => !/verif|\/v1\/users\/ben\/applications|assets/i.test(call))).toEqual([]);
  await axe(page);

  // The service knows the score, 720, and says so by the flags of an application.
  await applyFor(app, 'ben', 'oak-1');
  const other = await app.open('/listings/oak-2', { as: 'ben' });
  await other.getByRole('button', { name: 'Do I qualify?' }).click();
  await other.getByText('Minimum credit 600: met').waitFor();
  await other.getByText('Preferred credit 700: met').waitFor();
  await other.getByText('Minimum income $95,000 a year: not met').waitFor();
  await other.getByText('You do not meet every minimum.').waitFor();
});

test('a home without requirements has nothing to compare', async () => {
  const page = await app.open('/listings/free-1', { as: 'ben' });
  await page.getByRole('button', { name: 'Apply for this home' }).waitFor();
  expect(await page.getByRole('button', { name: 'Do I qualify?' }).count()).toBe(0);
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
