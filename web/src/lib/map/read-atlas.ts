// The atlases in tests, which have no server.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Atlas } from './atlas';

export function readAtlas(name: string): Atlas {
  return JSON.parse(readFileSync(createRequire(import.meta.url).resolve(name), 'utf8')) as Atlas;
}
