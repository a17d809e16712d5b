// The harness itself: what goes wrong on a page is seen.
import { expect, test } from 'vitest';
import { useConsole } from './harness';

const app = useConsole();

test('a refusal of the policy, a failed request and an exception are noticed', async () => {
  const page = await app.open('/');
  await page.evaluate(async () => {
    document.body.insertAdjacentHTML('beforeend', '<p style="color: red">styled</p>');
    await fetch('/v1/nothing');
    setTimeout(() => {
      throw new Error('on purpose');
    });
  });
  await page.waitForTimeout(200);
  const faults = page.watch.faults.splice(0).join('\n');
  expect(faults).toContain('refused by the policy: style-src');
  expect(faults).toContain('404: GET');
  expect(faults).toContain('exception: Error: on purpose');
});
