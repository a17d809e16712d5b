// Forms keep their input and can be submitted after the session expires or the connection breaks.
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';

const app = useConsole();
const VERIFY = '**/verifyRentalRequirements*';

test('an expired session asks to sign in and keeps the form input', async () => {
  const page = await app.open('/screening', { as: 'late' });
  page.monitor.allow(/401/);
  await page.getByRole('button', { name: 'Good applicant' }).click();
  await page.getByLabel('First name').fill('Slowly typed');
  await page.getByRole('checkbox').check();
  // The token has expired when the form is submitted.
  await page.route(
    VERIFY,
    (route) => route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer e30.e30.old' } }),
    { times: 1 },
  );
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.waitFor();
  await axe(page);
  expect(await page.locator('input[name=FirstName]').inputValue()).toBe('Slowly typed');
  expect(await dialog.getByLabel('User id').inputValue()).toBe('late');
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Every check that ran was passed.').waitFor();
});

test('dismissing the sign-in dialog keeps the form input', async () => {
  const page = await app.open('/screening', { as: 'later' });
  page.monitor.allow(/401/);
  await page.getByRole('button', { name: 'Good applicant' }).click();
  await page.getByRole('checkbox').check();
  await page.route(VERIFY, (route) =>
    route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer e30.e30.old' } }),
  );
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await page.getByRole('main').getByRole('alert').waitFor();
  expect(await page.getByLabel('First name').inputValue()).toBe('Grace');
  await axe(page);
  await page.unroute(VERIFY);
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('Every check that ran was passed.').waitFor();
});

test('a lost connection during submit is retried, and nothing runs twice', async () => {
  const page = await app.open('/screening', { as: 'tunnel' });
  page.monitor.allow(/ERR_(FAILED|INTERNET_DISCONNECTED)/);
  await page.getByRole('button', { name: 'Good applicant' }).click();
  await page.getByRole('checkbox').check();
  // The first request arrives, but its response is lost; the next two requests fail.
  let attempts = 0;
  await page.route(
    VERIFY,
    async (route) => {
      if (attempts++ === 0) await route.fetch();
      await route.abort();
    },
    { times: 3 },
  );
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('The connection to the service is lost').waitFor();
  await page.getByText('Every check that ran was passed.').waitFor();
  await page.getByText('The connection to the service is lost').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Results' }).click();
  await page.getByText('All checks passed').waitFor();
  expect(await page.getByText('All checks passed').count()).toBe(1);
});

/** Requests to the service, not for the console's own files. */
const API = /^https?:\/\/[^/]+\/(v1|healthz)/;
const LOST = 'The connection to the service is lost';

test('submitting without a server ends with a message and a banner', async () => {
  const page = await app.open('/portfolios/new', { as: 'stranded', height: 500 });
  page.monitor.allow(/ERR_(FAILED|CONNECTION_REFUSED|INTERNET_DISCONNECTED)/);
  await page.getByLabel('Name').fill('Typed in a tunnel');
  await page.getByRole('combobox', { name: 'Risk' }).click();
  await page.getByRole('option', { name: 'Moderate', exact: true }).click();
  await page.getByRole('button', { name: 'Remove protocol 1' }).click();
  // The first request arrives, but nothing comes back, and then nothing arrives any more.
  let arrived = false;
  await page.route(API, async (route) => {
    if (route.request().method() === 'POST' && !arrived) {
      arrived = true;
      await route.fetch();
    }
    await route.abort();
  });
  const save = page.getByRole('button', { name: 'Create the portfolio' });
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await save.click();
  const banner = page.getByText(LOST);
  await banner.waitFor();
  const isInView = await banner.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
  expect(isInView).toBe(true);
  await page.getByText('Nothing that you typed is lost.').waitFor();
  expect(await save.getAttribute('aria-busy')).toBeNull();
  expect(await page.getByLabel('Name').inputValue()).toBe('Typed in a tunnel');
  await axe(page);
  // Nobody touches the page: the banner goes away by itself.
  await page.unroute(API);
  await banner.waitFor({ state: 'detached' });
  await save.click();
  await page.getByRole('link', { name: 'Typed in a tunnel', exact: true }).waitFor();
  // The first attempt had arrived; the last one did nothing twice.
  expect(await page.getByRole('link', { name: 'Typed in a tunnel', exact: true }).count()).toBe(1);
});

test('a page that could not be loaded loads once the connection is back', async () => {
  const page = await app.open('/devices', { as: 'stranded' });
  page.monitor.allow(/ERR_FAILED/);
  await page.route(API, (route) => route.abort());
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Portfolios' }).click();
  await page.getByText(LOST).waitFor();
  await page.getByRole('heading', { name: 'This could not be loaded' }).waitFor();
  await page.unroute(API);
  await page.getByRole('heading', { name: 'No templates yet' }).waitFor();
  await page.getByText(LOST).waitFor({ state: 'detached' });
});
