// Tests of the harness: errors on a page are recorded.
import { expect, test } from 'vitest';
import { useConsole } from './harness';

const app = useConsole();

test('CSP violations, failed requests and exceptions are recorded', async () => {
  const page = await app.open('/');
  await page.evaluate(async () => {
    document.body.insertAdjacentHTML('beforeend', '<p style="color: red">styled</p>');
    await fetch('/v1/nothing');
    setTimeout(() => {
      throw new Error('on purpose');
    });
  });
  await page.waitForTimeout(200);
  const errors = page.monitor.errors.splice(0).join('\n');
  expect(errors).toContain('CSP violation: style-src');
  expect(errors).toContain('404: GET');
  expect(errors).toContain('exception: Error: on purpose');
});
