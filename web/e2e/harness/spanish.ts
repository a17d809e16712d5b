// Looks at a page as it is now, at 320 and 1,440 pixels: nothing wider than the window, axe, and in Spanish no English.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { axe } from './axe';
import { englishPatterns, findEnglish } from './english';

const patterns = englishPatterns('es');

/** `check`: what else has to hold at each width. */
export async function expectAccessible(page: Page, check?: () => Promise<void>): Promise<void> {
  for (const width of [320, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    // A link that is half under the top bar would count as too small.
    await page.evaluate(() => window.scrollTo(0, 0));
    await check?.();
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth))
      .toBeLessThanOrEqual(0);
    await axe(page);
  }
}

export function expectSpanish(page: Page): Promise<void> {
  return expectAccessible(page, async () => expect(await findEnglish(page, patterns)).toEqual([]));
}
