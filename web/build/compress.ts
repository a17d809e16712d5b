// Writes a Brotli and a gzip copy next to every text file of the build, so that the server never compresses at runtime.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const TEXT = /\.(js|css|html|svg|json|webmanifest|txt)$/;
const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

async function compressFile(path: string): Promise<void> {
  const bytes = await readFile(path);
  const best = { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } };
  await Promise.all([
    brotli(bytes, best).then((out) => writeFile(`${path}.br`, out)),
    zip(bytes, { level: 9 }).then((out) => writeFile(`${path}.gz`, out)),
  ]);
}

export function compress(): Plugin {
  let folder = 'dist';
  return {
    name: 'portico-compress',
    apply: 'build',
    configResolved: (config) => {
      folder = config.build.outDir;
    },
    closeBundle: {
      // Runs after Vite has copied public/.
      order: 'post',
      sequential: true,
      async handler() {
        const names = await readdir(folder, { recursive: true });
        for (const name of names.filter((name) => TEXT.test(name))) {
          const path = join(folder, name);
          if ((await stat(path)).isFile()) await compressFile(path);
        }
      },
    },
  };
}
