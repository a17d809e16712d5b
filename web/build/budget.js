// Fails if the first load needs more than 150 kB of compressed JavaScript: everything that index.html and a home page
// import, the heaviest one of all roles, not counting lazy chunks.
import { readFileSync, statSync } from 'node:fs';

const LIMIT = 150_000;
const HOME = 'src/pages/home/index.svelte';
const ROLE = /^src\/pages\/home\/\w+\/index\.svelte$/;

const manifest = JSON.parse(readFileSync('dist/.vite/manifest.json', 'utf8'));
const names = Object.keys(manifest);
const entries = names.filter((name) => manifest[name].isEntry);
const roles = names.filter((name) => ROLE.test(name));
if (!(HOME in manifest) || roles.length === 0) throw new Error('the home pages are not in the build');

function sizesOf(pages) {
  const files = new Set(['theme.js']);
  const visit = (name) => {
    const chunk = manifest[name];
    if (!chunk || files.has(chunk.file)) return;
    files.add(chunk.file);
    chunk.imports?.forEach(visit);
  };
  pages.forEach(visit);
  return [...files].map((file) => ({ file, bytes: statSync(`dist/${file}.br`).size }));
}

const loads = roles.map((role) => {
  const sizes = sizesOf([...entries, HOME, role]);
  return { role, sizes, total: sizes.reduce((sum, { bytes }) => sum + bytes, 0) };
});
const [heaviest] = loads.sort((a, b) => b.total - a.total);
for (const { file, bytes } of heaviest.sizes.sort((a, b) => b.bytes - a.bytes))
  console.log(String(bytes).padStart(8), file);
console.log(
  String(heaviest.total).padStart(8),
  `of ${LIMIT} bytes of compressed JavaScript at first load, of ${heaviest.role}`,
);
if (heaviest.total > LIMIT) process.exitCode = 1;
