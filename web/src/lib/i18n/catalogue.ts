// For tests: the messages as they are in messages/, by language and key.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

export interface Catalogue {
  /** Every text of a message: one, or one per plural form. */
  texts: Record<string, string[]>;
  /** The area of each key: the name of its file. */
  areas: Record<string, string>;
}

type Message = string | { match: Record<string, string> }[];

const web = new URL('../../../', import.meta.url);
const settings = JSON.parse(readFileSync(new URL('project.inlang/settings.json', web), 'utf8')) as {
  locales: string[];
  'plugin.inlang.messageFormat': { pathPattern: string[] };
};

export const LOCALES = settings.locales;

export function readCatalogue(locale: string): Catalogue {
  const catalogue: Catalogue = { texts: {}, areas: {} };
  for (const pattern of settings['plugin.inlang.messageFormat'].pathPattern) {
    const path = new URL(pattern.replace('{locale}', locale), web);
    const messages = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Message>;
    for (const [key, message] of Object.entries(messages)) {
      if (key in catalogue.texts) throw new Error(`${key} is in two files`);
      catalogue.areas[key] = basename(path.pathname, '.json');
      catalogue.texts[key] =
        typeof message === 'string' ? [message] : message.flatMap(({ match }) => Object.values(match));
    }
  }
  return catalogue;
}
