// Fails if the first load needs more than 150 kB of compressed JavaScript: everything that index.html and the
// Overview page import, not counting lazy chunks.
import { readFileSync, statSync } from 'node:fs';

const LIMIT = 150_000;
const FIRST_PAGE = 'src/pages/overview/index.svelte';

const manifest = JSON.parse(readFileSync('dist/.vite/manifest.json', 'utf8'));
const files = new Set(['theme.js']);

function visit(key) {
  const chunk = manifest[key];
  if (!chunk || files.has(chunk.file)) return;
  files.add(chunk.file);
  chunk.imports?.forEach(visit);
}

const entries = Object.keys(manifest).filter((key) => manifest[key]?.isEntry);
[...entries, FIRST_PAGE].forEach(visit);

const sizes = [...files].map((file) => ({ file, bytes: statSync(`dist/${file}.br`).size }));
const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
for (const { file, bytes } of sizes.sort((a, b) => b.bytes - a.bytes)) console.log(String(bytes).padStart(8), file);
console.log(String(total).padStart(8), `of ${LIMIT} bytes of compressed JavaScript at first load`);
if (!(FIRST_PAGE in manifest)) throw new Error(`${FIRST_PAGE} is not in the build`);
if (total > LIMIT) process.exitCode = 1;
