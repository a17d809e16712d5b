// Accessibility, in both themes.
import axeCore, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What fades or arrives has come to its end, and what that set in motion too. */
async function settled(): Promise<void> {
  const moving = () =>
    document.getAnimations().filter((a) => a.playState === 'running' && a.effect?.getTiming().iterations !== Infinity);
  for (let now = moving(); now.length > 0; now = moving()) {
    await Promise.all(now.map((animation) => animation.finished.catch(() => null)));
  }
}

export async function axe(page: Page): Promise<void> {
  const before = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.evaluate(axeCore.source);
  for (const theme of ['light', 'dark']) {
    await page.evaluate((name) => (document.documentElement.dataset.theme = name), theme);
    await page.evaluate(settled);
    const results = await page.evaluate<AxeResults, string[]>(
      (tags) => (window as never as { axe: { run: (o: object) => Promise<AxeResults> } }).axe.run({ runOnly: tags }),
      TAGS,
    );
    const found = results.violations.flatMap(({ id, help, nodes }) =>
      nodes.map((node) => `${theme} ${id}: ${help}\n  ${node.target.join(' ')}\n  ${node.failureSummary}`),
    );
    expect(found.join('\n')).toBe('');
  }
  await page.evaluate((name) => (document.documentElement.dataset.theme = name), before);
}
