// Claiming an identity token with a browser wallet.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { addWallet } from './harness/wallet';

const app = useConsole();

async function verifyOnPage(page: Page, wished?: string) {
  await page.goto(`${app.url}/console/screening`);
  await page.getByRole('button', { name: 'Good applicant' }).click();
  if (wished) {
    await page.getByText('Landlord, case and wallet').click();
    await page.getByLabel('My own wallet').check();
    await page.getByRole('button', { name: 'Use the browser’s wallet' }).click();
    await expect.poll(() => page.getByLabel('Wallet address').inputValue()).toBe(wished);
  }
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByRole('heading', { name: 'Identity token' }).waitFor();
}

test('a named wallet claims the token with its signature', async () => {
  const page = await app.open('/', { as: 'wes' });
  const wallet = await addWallet(page);
  await verifyOnPage(page, wallet.address);
  await page.getByText('The service keeps it for you').waitFor();
  await page.getByRole('button', { name: 'Copy the wallet you named' }).waitFor();
  await page.getByText('The wallet that you named holds the token once it has claimed it').waitFor();
  await page.getByText('This holder is recorded').waitFor();
  await axe(page);

  wallet.declineNext();
  await page.getByRole('button', { name: 'Claim with a wallet' }).click();
  await page.getByText('You declined in the wallet, so nothing has changed.').waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Claim with a wallet' }).click();
  await page.getByText('Your wallet holds the token now.').waitFor();
  await page.getByText('Your wallet', { exact: true }).waitFor();
  await page.getByText('This holder is recorded').waitFor();
  expect(await page.getByRole('button', { name: 'Copy the wallet you named' }).count()).toBe(0);
  expect(wallet.signed).toHaveLength(1);
  expect(wallet.signed[0]).toContain(`${new URL(app.url).host} wants you to sign in`);
  expect(wallet.signed[0]).toContain(wallet.address);
  await axe(page);
  await page.reload();
  await page.getByText('Your wallet', { exact: true }).waitFor();
});

test('a signature of another key is refused and explained', async () => {
  const page = await app.open('/', { as: 'xia' });
  page.monitor.allow(/403/);
  await addWallet(page, { foreignKey: true });
  await verifyOnPage(page);
  await page.getByRole('button', { name: 'Claim with a wallet' }).click();
  await page.getByRole('alert').getByText('The signature is not that of this wallet.').waitFor();
  await page.getByText('The service keeps it for you').waitFor();
});

test('without a wallet the page says so', async () => {
  const page = await app.open('/screening', { as: 'yan' });
  await verifyOnPage(page);
  await page.getByRole('button', { name: 'Claim with a wallet' }).click();
  await page.getByRole('alert').getByText('There is no wallet in this browser.').waitFor();
  await axe(page);
});
