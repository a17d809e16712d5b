// Looks at a page in Spanish, as it is now: no English, nothing wider than the window, and axe at 320 and 1,440 pixels.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { axe } from './axe';
import { englishPatterns, findEnglish } from './english';

const patterns = englishPatterns('es');

export async function expectSpanish(page: Page): Promise<void> {
  for (const width of [320, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    // A link that is half under the top bar would count as too small.
    await page.evaluate(() => window.scrollTo(0, 0));
    expect(await findEnglish(page, patterns)).toEqual([]);
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth))
      .toBeLessThanOrEqual(0);
    await axe(page);
  }
}
