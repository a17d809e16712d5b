// Devices: one at a time, many from a CSV, by network, by user.
import { expect, test } from 'vitest';
import { axe, useConsole } from './harness';

const app = useConsole();

const device = (userId: string, network: string, deviceIdentifier: string) =>
  app.post('/v1/depin-device', { userId, network, deviceIdentifier });

test('a device is registered, removed, and brought back', async () => {
  const page = await app.open('/devices', { as: 'dev' });
  await page.getByRole('heading', { name: 'No devices yet' }).waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Register a device' }).click();
  await page.waitForFunction(() => document.activeElement?.matches('[role="dialog"] input'));
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  await page.getByText('Enter the network.').waitFor();
  await axe(page);
  await page.getByLabel('Network', { exact: true }).fill('Helium');
  await page.getByLabel('Device identifier').fill('112qB3YaH5bZkCnKA5uRH');
  await page.keyboard.press('Enter');
  await page.getByText('Registered on Helium.').waitFor();
  await page.getByText('112qB3YaH5bZkCnKA5uRH').waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Remove 112qB3YaH5bZkCnKA5uRH' }).click();
  await page.getByRole('heading', { name: 'No devices yet' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await page.getByText('112qB3YaH5bZkCnKA5uRH', { exact: true }).waitFor();
});

test('a duplicate device shows an error at its identifier', async () => {
  await device('ben', 'DIMO', 'car-1');
  const page = await app.open('/devices', { as: 'chloe' });
  page.monitor.allow(/409/);
  await page.getByRole('button', { name: 'Register a device' }).click();
  await page.getByLabel('Network', { exact: true }).fill('DIMO');
  await page.getByLabel('Device identifier').fill('car-1');
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  await page.getByText('It is registered on this network already.').waitFor();
  expect(await page.getByLabel('Device identifier').getAttribute('aria-invalid')).toBe('true');
});

test('devices are grouped by network and, for operators, by user', async () => {
  await device('ben', 'Render', 'gpu-1');
  await device('ben', 'Storj', 'disk-1');
  await device('chloe', 'Render', 'gpu-2');
  const page = await app.open('/devices', { as: 'operator' });
  await page.getByRole('tab', { name: 'By network' }).click();
  await page.getByRole('button', { name: /Storj/ }).click();
  await page.getByText('disk-1').waitFor();
  await axe(page);
  await page.getByRole('button', { name: /Render/ }).click();
  await page.getByText('gpu-2').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Render' }).waitFor();
  await page.getByText('gpu-1').waitFor();
  await page.goBack();
  await page.getByText('disk-1').waitFor();
  await page.getByRole('tab', { name: 'By user' }).click();
  await page.getByRole('button', { name: /chloe/ }).click();
  await page.getByText('gpu-2').waitFor();
  await axe(page);
});

test('a CSV shows all errors first, and a rejected row stops no other', async () => {
  await device('zoe', 'Geodnet', 'taken-1');
  const page = await app.open('/devices/import', { as: 'zoe' });
  await axe(page);
  await page
    .getByLabel('CSV file', { exact: true })
    .last()
    .setInputFiles({
      name: 'rack.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(
        'Network,Device identifier,User\nGeodnet,g-1\nGeodnet,g-2\nGeodnet,g-1\nGeodnet,taken-1\n,g-9,ben\nGeodnet,"g,3"\n',
      ),
    });
  await page.getByText('The network is missing.').waitFor();
  await page.getByText('The row names another user.').waitFor();
  await page.getByText('The same as line 2.').waitFor();
  await page.getByText('Already registered.').waitFor();
  await page.getByText('1 row with an error will not be sent.').waitFor();
  await page.getByText('2 duplicate rows will not be sent.').waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Error 1' }).click();
  expect(await page.getByRole('row').count()).toBe(2);
  await page.getByRole('button', { name: 'All 6' }).click();

  // Another user registers one of them first.
  await device('ben', 'Geodnet', 'g-2');
  page.monitor.allow(/409/);
  await page.getByRole('button', { name: 'Register 3 devices' }).click();
  await page.getByText('2 devices registered.').waitFor();
  await page.getByRole('row', { name: /g-2 .*Duplicate/ }).waitFor();
  await page.getByRole('row', { name: /g,3 .*Registered/ }).waitFor();
  await axe(page);
  await page.getByRole('link', { name: 'See my devices' }).click();
  await page.getByText('g,3', { exact: true }).waitFor();
});

test('a heading without a network is no device, and nothing can be sent', async () => {
  const page = await app.open('/devices/import', { as: 'hal' });
  await page.getByLabel('Rows', { exact: true }).fill('serial,type\nSN-1,hotspot');
  await page.getByText('has no column for the network').waitFor();
  expect(await page.getByRole('button', { name: /^Register/ }).count()).toBe(0);
  await axe(page);
  await page.getByLabel('Rows', { exact: true }).fill('serial,network\nSN-1,helium');
  await page.getByRole('button', { name: 'Register 1 device', exact: true }).waitFor();
});

test('the known spelling of a network is offered', async () => {
  const page = await app.open('/devices', { as: 'gil' });
  await page.getByRole('button', { name: 'Register a device' }).click();
  await page.getByLabel('Network', { exact: true }).fill('helium');
  await page.getByText('This network is known as Helium.').waitFor();
  await axe(page);
  await page.getByRole('button', { name: 'Use this spelling' }).click();
  expect(await page.getByLabel('Network', { exact: true }).inputValue()).toBe('Helium');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Import a CSV' }).click();
  await page.getByLabel('Rows', { exact: true }).fill('helium,h-1\nHelium,h-2');
  await page.getByText('helium, known as Helium').waitFor();
  await page.getByRole('button', { name: 'Use the known spelling' }).click();
  await page.getByRole('button', { name: 'Register 2 devices' }).click();
  await page.getByText('2 devices registered.').waitFor();
  const list = await fetch(`${app.url}/v1/depin-devices/user/gil`, { headers: await app.tokenHeaders('gil') });
  expect(((await list.json()) as { network: string }[]).map(({ network }) => network)).toEqual(['Helium', 'Helium']);
});

test('devices and user ids of others are for operators', async () => {
  await device('secretive', 'Render', 'gpu-9');
  const page = await app.open('/devices?tab=networks&network=Render', { as: 'chloe' });
  await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(await page.getByRole('tab').count()).toBe(0);
  expect(await page.getByText(/secretive|gpu-9/).count()).toBe(0);
});

test('a CSV can be dropped or pasted', async () => {
  const page = await app.open('/devices/import', { as: 'ivy' });
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['Helium;drop-1\nHelium;drop-2'], 'drop.csv', { type: 'text/csv' }));
    return transfer;
  });
  await page.getByText('Drop a CSV file here').dispatchEvent('drop', { dataTransfer: data });
  await page.getByRole('button', { name: 'Register 2 devices' }).waitFor();
  await page.getByLabel('Rows of drop.csv').fill('Helium\tpaste-1');
  await page.getByRole('button', { name: 'Register 1 device', exact: true }).click();
  await page.getByText('1 device registered.').waitFor();
});

test('several hundred rows register with progress and load page by page', async () => {
  const page = await app.open('/devices/import', { as: 'ida' });
  const text = Array.from({ length: 300 }, (_, i) => `Hivemapper,cam-${i}`).join('\n');
  await page.getByLabel('Rows', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Register 300 devices' }).click();
  await page.getByRole('progressbar').waitFor();
  await page.getByText('300 devices registered.').waitFor();
  await page.getByRole('button', { name: 'Show 100 more' }).waitFor();
  await page.getByRole('link', { name: 'See my devices' }).click();
  const list = page.getByRole('region', { name: 'My devices' });
  await list.getByText('cam-0', { exact: true }).waitFor();
  for (let i = 0; i < 3; i++) {
    await list.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await page.waitForTimeout(200);
  }
  await list.getByText('cam-299', { exact: true }).waitFor();
});

test('hostile text of a device stays text', async () => {
  const script = `<img src=x onerror="document.title='hacked'">`;
  await device('mallory', script, `javascript:alert(1)//${script}`);
  const page = await app.open(`/devices?tab=networks&network=${encodeURIComponent(script)}`, { as: 'operator' });
  await page.getByText(`javascript:alert(1)//${script}`).waitFor();
  expect(await page.locator('main img').count()).toBe(0);
  await page.goto(`${app.url}/console/devices/import`);
  await page.getByLabel('Rows', { exact: true }).fill(`${script},x`);
  await page.getByRole('cell', { name: script }).waitFor();
  expect(await page.locator('main img').count()).toBe(0);
  expect(await page.title()).toBe('Import devices · Portico');
});

test('everything fits at phone width', async () => {
  for (const path of ['/devices', '/devices?tab=networks', '/devices/import']) {
    const page = await app.open(path, { width: 390, height: 844, as: 'zoe' });
    await page.waitForLoadState('networkidle');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await axe(page);
  }
});
