// Accessibility checks with axe-core in both themes.
import axeCore, { type AxeResults, type RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Waits for running animations, including those that they start. */
async function waitForAnimations(): Promise<void> {
  const runningAnimations = () =>
    document.getAnimations().filter((a) => a.playState === 'running' && a.effect?.getTiming().iterations !== Infinity);
  for (let now = runningAnimations(); now.length > 0; now = runningAnimations()) {
    await Promise.all(now.map((animation) => animation.finished.catch(() => null)));
  }
}

/** Rules whose result depends on the theme; the others run once. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

export async function axe(page: Page): Promise<void> {
  const before = await page.evaluate(() => document.documentElement.dataset.theme);
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(`${axeCore.source}; undefined`);
  const found = [...(await violations(page, 'light', AXE_TAGS)), ...(await violations(page, 'dark', COLOUR_RULES))];
  expect(found.join('\n')).toBe('');
  await page.evaluate((name) => (document.documentElement.dataset.theme = name), before);
}

async function violations(page: Page, theme: string, runOnly: string[]): Promise<string[]> {
  await page.evaluate((name) => (document.documentElement.dataset.theme = name), theme);
  await page.evaluate(waitForAnimations);
  const results = await page.evaluate<AxeResults, RunOptions>(
    (options) => (window as never as { axe: { run: (o: object) => Promise<AxeResults> } }).axe.run(options),
    { runOnly, resultTypes: ['violations'] },
  );
  return results.violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${theme} ${id}: ${help}\n  ${node.target.join(' ')}\n  ${node.failureSummary}`),
  );
}
