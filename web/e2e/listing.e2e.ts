import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';
import { agreeAndApply } from './harness/applications';
import { newListing } from './harness/listings';

const app = useConsole();

async function record(id: string, more: object = {}) {
  const body = {
    id,
    userId: 'ada',
    addressStreet: `${id} Street`,
    addressCity: 'Austin',
    addressState: 'TX',
    addressPostal: '78701',
    monthlyPayment: 1850.5,
    minCredit: 620,
    prefCredit: 700,
    minIncome: 55000,
    latitude: 30.2672,
    longitude: -97.7431,
    ...more,
  };
  await app.post('/stage/listings', body, await app.keyHeaders('ada'));
}

test('a recorded listing shows its requirements and its proof', async () => {
  await record('oak-12', { propertyValue: 450000, walkthroughLink: 'https://example.com/oak-12' });
  const page = await app.open('/listings/oak-12', { as: 'ben' });
  await page.getByRole('heading', { level: 1, name: 'oak-12 Street' }).waitFor();
  await page.getByText('$1,850.50').waitFor();
  await page.getByRole('row', { name: 'Credit score 620 700' }).waitFor();
  await page.getByRole('row', { name: 'Income $55,000 $55,000' }).waitFor();
  await page.getByText('Matches the chain').waitFor();
  const digests = await page.locator('code.digest').allTextContents();
  expect(digests).toHaveLength(2);
  expect(digests[0]).toMatch(/^0x[0-9a-f]{64}$/);
  expect(digests[0]).toBe(digests[1]);
  const walk = page.getByRole('link', { name: 'Walk through the home' });
  expect(await walk.getAttribute('href')).toBe('https://example.com/oak-12');
  await axe(page);
  await page.getByRole('button', { name: 'Recompute it in this browser' }).click();
  await page.getByText('Your browser came to the same digest').waitFor();
  await page.getByText('What the digest covers').click();
  await axe(page);
});

test('a proof mismatch is shown', async () => {
  await record('altered');
  const page = await app.open('/', { as: 'ben' });
  await page.route('**/v1/listings/altered/proof', async (route) => {
    const answer = await route.fetch();
    const proof = await answer.json();
    const content = proof.content.map((field: object, i: number) =>
      i === 1 ? { ...field, value: 'Elsewhere' } : field,
    );
    await route.fulfill({ json: { ...proof, content, digest: `0x${'ab'.repeat(32)}`, matches: false } });
  });
  await page.goto(`${app.url}/console/listings/altered`);
  await page.getByText('Does not match the chain').waitFor();
  await page.getByRole('button', { name: 'Recompute it in this browser' }).click();
  await page.getByText('Your browser came to another digest').waitFor();
  await axe(page);
});

test('a listing is saved and removed again', async () => {
  await record('elm-3');
  const page = await app.open('/listings/elm-3', { as: 'ben' });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Saved', pressed: true }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Saved', pressed: true }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'Saved', pressed: true }).waitFor();
});

test('applying asks for confirmation, then shows the four flags', async () => {
  await record('pine-7');
  const page = await app.open('/listings/pine-7', { as: 'ben' });
  await page.getByRole('button', { name: 'Apply for this home' }).click();
  const question = page.getByRole('dialog', { name: 'Apply for this home?' });
  await question.getByText('a commitment that reveals nothing by itself').waitFor();
  const conditions = question.getByRole('region', { name: 'Conditions' });
  await conditions.getByText('Minimum credit').waitFor();
  await conditions.getByText('Credit: the terms ask for it').waitFor();
  expect(await question.getByRole('button', { name: 'Apply', exact: true }).isDisabled()).toBe(true);
  await axe(page);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Apply for this home' }).click();
  await agreeAndApply(page);
  await page.getByRole('heading', { name: 'Your application' }).waitFor();
  await page.getByText('Minimum credit: not checked').waitFor();
  await page.getByText(/^You applied /).waitFor();
  // Nothing is recorded before a verification.
  expect(await page.getByText('Recorded in block').count()).toBe(0);
  await axe(page);
  await page.getByRole('link', { name: 'See what is missing' }).click();
  expect(await page.getByRole('link', { name: 'Verify credit' }).getAttribute('href')).toBe(
    '/console/screening?home=pine-7',
  );
});

test('conditions that changed meanwhile are shown, and have to be agreed to again', async () => {
  await record('pine-8');
  const page = await app.open('/listings/pine-8', { as: 'ben' });
  page.monitor.allow(/409/);
  await page.getByRole('button', { name: 'Apply for this home' }).click();
  const question = page.getByRole('dialog', { name: 'Apply for this home?' });
  await question.getByRole('checkbox').check();
  const response = await fetch(`${app.url}/v1/listings/pine-8`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', ...(await app.tokenHeaders('ada')) },
    body: JSON.stringify({ terms: { minCredit: 650, prefCredit: 710, minIncome: 0, prefIncome: 0 } }),
  });
  expect(response.status).toBe(200);
  await question.getByRole('button', { name: 'Apply', exact: true }).click();
  await question.getByText('The conditions have changed since you read them.').waitFor();
  await question.getByText('650', { exact: true }).waitFor();
  expect(await question.getByRole('checkbox').isChecked()).toBe(false);
  await axe(page);
  await agreeAndApply(page);
  await page.getByRole('heading', { name: 'Your application' }).waitFor();
});

test('the owner gets a link to the applicants', async () => {
  await record('mine-1');
  const page = await app.open('/listings/mine-1', { as: 'ada' });
  await page.getByRole('link', { name: 'See the applicants' }).click();
  await page.getByRole('heading', { name: 'Applicants' }).waitFor();
});

test('a listing without a record says what is missing', async () => {
  await app.post('/listings', newListing('plain-1', { streetAddress: '1 Plain Street', monthlyRent: undefined }));
  const page = await app.open('/listings', { as: 'ada', width: 390, height: 844 });
  await page.getByRole('link', { name: '1 Plain Street' }).click();
  await page.getByText('Rent on request').waitFor();
  await page.getByText('listed without a record on the chain').waitFor();
  // Nothing claims that the chain knows the home.
  expect(await page.getByText('The chain holds a digest').count()).toBe(0);
  await axe(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test('no proof is requested without a record', async () => {
  await record('oak-99');
  await app.post('/listings', newListing('bare-1', { streetAddress: '1 Bare Street' }));
  const page = await app.open('/listings', { as: 'ada' });
  let proofRequests = 0;
  page.on('request', (request) => (proofRequests += request.url().endsWith('/bare-1/proof') ? 1 : 0));
  for (let visit = 0; visit < 2; visit++) {
    await page.getByRole('link', { name: '1 Bare Street' }).click();
    await page.getByText('listed without a record on the chain').waitFor();
    await page.goBack();
  }
  expect(proofRequests).toBe(0);
});

test('a pending record updates when it is mined', async () => {
  await record('slow-1');
  const page = await app.open('/', { as: 'ben' });
  let mined = false;
  await page.route('**/v1/listings/slow-1/records', async (route) => {
    const answer = await route.fetch();
    const [found] = await answer.json();
    await route.fulfill({ json: [mined ? found : { ...found, status: 'pending', blockNumber: undefined }] });
  });
  await page.goto(`${app.url}/console/listings/slow-1`);
  await page.getByText('On its way', { exact: true }).waitFor();
  await page.getByText('What the landlord asks is on its way to the chain.').waitFor();
  await axe(page);
  mined = true;
  await page.getByText('Matches the chain').waitFor();
  await page.getByRole('row', { name: 'Credit score 620 700' }).waitFor();
});

test('a record that the chain refused says so', async () => {
  await record('refused-1');
  const page = await app.open('/', { as: 'ben' });
  await page.route('**/v1/listings/refused-1/records', async (route) => {
    const answer = await route.fetch();
    const [found] = await answer.json();
    await route.fulfill({ json: [{ ...found, status: 'refused', blockNumber: undefined }] });
  });
  await page.goto(`${app.url}/console/listings/refused-1`);
  await page.getByText('Refused by the chain').waitFor();
  await page.getByText('The chain did not take the record').waitFor();
  expect(await page.getByText('Matches the chain').count()).toBe(0);
  await axe(page);
});

test('a deleted listing says so', async () => {
  const page = await app.open('/listings/never-was', { as: 'chloe' });
  await page.getByRole('heading', { name: 'This home is not listed' }).waitFor();
  await axe(page);
});

test('hostile text and links of a listing stay text', async () => {
  const script = `<script>document.title='hacked'</script><img src=x onerror=alert(1)>`;
  await record('evil', { addressStreet: script, addressCity: '{{7*7}}' });
  const page = await app.open('/', { as: 'ada' });
  // The service rejects such a link, but an older record may contain one.
  await page.route('**/v1/listings/evil', async (route) => {
    const answer = await route.fetch();
    const details = await answer.json();
    await route.fulfill({ json: { ...details, walkthroughLink: 'javascript:alert(document.domain)' } });
  });
  await page.goto(`${app.url}/console/listings/evil`);
  await page.getByRole('heading', { level: 1, name: script }).waitFor();
  await page.getByText('Matches the chain').waitFor();
  expect(await page.title()).toBe(`${script} · Portico`);
  expect(await page.getByRole('link', { name: 'Walk through the home' }).count()).toBe(0);
  expect(await page.locator('main img, main script, a[href^="javascript"]').count()).toBe(0);
});
