import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';

const app = useConsole();

async function record(id: string): Promise<string> {
  const where = { addressStreet: '1 Oak Street', addressCity: 'Austin', addressState: 'TX', addressPostal: '78701' };
  const body = { id, userId: 'ada', ...where, monthlyPayment: 2100 };
  const { transactionHash } = await app.post<{ transactionHash: string }>(
    '/stage/listings',
    body,
    await app.keyHeaders('ada'),
  );
  return transactionHash;
}

test('a new block appears by itself, and leads to its transaction and back', async () => {
  const page = await app.open('/chain');
  const rows = page.getByRole('table', { name: 'Blocks of the chain' }).getByRole('row');
  await page.getByText('Everything is recorded.').waitFor();
  await page.getByRole('button', { name: 'Copy address: Identity token' }).waitFor();
  const before = await rows.count();
  await axe(page);

  const hash = await record('seen-live');
  await expect.poll(() => rows.count(), { timeout: 10_000 }).toBe(before + 1);
  await rows.nth(1).getByRole('link').first().click();
  await page.getByText('Listing registry · 1 item').waitFor();
  await axe(page);
  await page.getByTitle(hash).click();
  await page.getByText('It is in a block.').waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/chain/transactions/${hash}`);
  await axe(page);
  await page.goBack();
  await page.getByText('Listing registry · 1 item').waitFor();
});

test('older blocks are paged, with a link to the newest', async () => {
  for (let i = 0; i < 14; i++) await record(`many-${i}`);
  const page = await app.open('/chain');
  await page.getByRole('link', { name: 'Older' }).click();
  await page.getByText(/Those before/).waitFor();
  await page.getByRole('link', { name: '0', exact: true }).waitFor();
  await axe(page);
  await page.reload();
  await page.getByRole('link', { name: 'Newest', exact: true }).click();
  await page.getByText('The newest first, as they come.').waitFor();
});

test('lookup opens blocks and transactions, or shows an error', async () => {
  const page = await app.open('/chain');
  const field = page.getByLabel('Find a block, transaction, address or listing');
  await field.fill('the newest');
  await field.press('Enter');
  await page.getByText('There is no listing “the newest”.').waitFor();
  await axe(page);
  await field.fill('1');
  await field.press('Enter');
  await page.getByRole('heading', { name: 'Block 1' }).waitFor();
  await page.getByRole('link', { name: 'Older' }).click();
  await page.getByText('An empty block').waitFor();
  await axe(page);
});

test('a future block appears once it is mined', async () => {
  const { head } = await (await fetch(`${app.url}/v1/chain/status`)).json();
  const page = await app.open(`/chain/blocks/${head.number + 1}`);
  await page.getByText('This block is not mined yet').waitFor();
  await axe(page);
  await record('waited-for');
  await page.getByText('Listing registry · 1 item').waitFor({ timeout: 15_000 });
});

test('unknown transactions and invalid hashes show a message', async () => {
  const page = await app.open('/chain/transactions/0x12');
  await page.getByText('A hash is 0x and 64 digits.').waitFor();
  await axe(page);
  page.monitor.allow(/404/);
  await page.goto(`${app.url}/console/chain/transactions/0x${'0'.repeat(64)}`);
  await page.getByText('This service has sent none with this hash.').waitFor();
  const none = await app.open('/chain/blocks/first');
  await none.getByText('A block has a whole number').waitFor();
});

test('a pending transaction is polled, and a replaced one links its replacement', async () => {
  const hash = await record('followed');
  const page = await app.open('/');
  let status = 'pending';
  await page.route('**/v1/chain/transactions/*', async (route) => {
    const { blockNumber, gasUsed, logs, ...rest } = await (await route.fetch()).json();
    const receipt = status === 'mined' ? { blockNumber, gasUsed, logs } : {};
    await route.fulfill({ json: { ...rest, ...receipt, status } });
  });
  await page.goto(`${app.url}/console/chain/transactions/${hash}`);
  await page.getByText('waits for a block').waitFor();
  // Decoded as soon as the node has it; the logs come with the block.
  await page.getByText('record(Item[] items)').waitFor();
  await page.getByText('Not in a block yet').first().waitFor();
  await axe(page);
  status = 'mined';
  await page.getByText('It is in a block.').waitFor();
  await page.getByText('Recorded(bytes32 indexed key, uint64 version, bytes32 digest)').waitFor();

  const other = `0x${'ab'.repeat(32)}`;
  await page.unroute('**/v1/chain/transactions/*');
  await page.route('**/v1/chain/transactions/*', async (route) => {
    // Without its data: the node no longer has it.
    const { from, nonce, contract, items } = await (await route.fetch()).json();
    await route.fulfill({ json: { hash, from, nonce, contract, items, status: 'replaced', replacedBy: other } });
  });
  await page.reload();
  await page.getByText('took its place').waitFor();
  await page.getByText('does not have this transaction').waitFor();
  expect(await page.getByTitle(other).getAttribute('href')).toBe(`/console/chain/transactions/${other}`);
  await axe(page);
});
