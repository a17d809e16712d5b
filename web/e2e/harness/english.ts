// Finds English on a page of another language: text that a message has in English and not in that language.
import type { Page } from 'playwright-core';
import { readCatalogue } from '../../src/lib/i18n/catalogue';

const MARK = /\{[#/][^}]*\}/g;
const PARAMETER = /\{\w+\}/g;

/** A whole text node or attribute. */
function toPattern(text: string): string {
  const plain = text.replace(MARK, '').split(PARAMETER);
  return `^${plain
    .map((part) =>
      part
        .trim()
        .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
        .replace(/\s+/g, '\\s+'),
    )
    .join('\\s*.+?\\s*')}$`;
}

function hasWords(text: string): boolean {
  return /\p{L}{2}/u.test(text.replace(MARK, '').replace(PARAMETER, ''));
}

export function englishPatterns(locale: string): string[] {
  const [english, other] = [readCatalogue('en').texts, readCatalogue(locale).texts];
  const others = Object.values(other).flat();
  const texts = Object.keys(english).flatMap(
    (key) => english[key]?.filter((text) => !other[key]?.includes(text)) ?? [],
  );
  const patterns = [...new Set(texts.filter(hasWords).map(toPattern))];
  // A word can be the same in both languages, with another meaning: `Error`, `Total`.
  return patterns.filter((pattern) => !others.some((text) => new RegExp(pattern, 'u').test(text)));
}

/** Every visible text, label and hint of the page that is English. Parts in a language of their own are skipped. */
export async function findEnglish(page: Page, patterns: string[]): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const found: string[] = [document.title.replace(/ · Portico$/, '')];
    const isForeign = (element: Element | null) => element?.closest('html [lang], code, pre, bdi') != null;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      // Blank text between blocks makes no sentence of them.
      if (node.textContent?.trim() === '') continue;
      const parent = node.parentElement;
      if (!parent || isForeign(parent) || ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(parent.tagName)) continue;
      found.push(node.textContent ?? '');
      if (parent.childElementCount > 0) found.push(parent.textContent ?? '');
    }
    for (const element of document.querySelectorAll('[aria-label], [title], [placeholder]'))
      if (!isForeign(element))
        for (const name of ['aria-label', 'title', 'placeholder']) found.push(element.getAttribute(name) ?? '');
    return [...new Set(found.map((text) => text.trim()).filter(Boolean))];
  });
  const expressions = patterns.map((pattern) => new RegExp(pattern, 'u'));
  return texts.filter((text) => expressions.some((expression) => expression.test(text)));
}
