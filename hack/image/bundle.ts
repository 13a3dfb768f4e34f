import {readdir, rm} from 'node:fs/promises';
import {basename, join} from 'node:path';
import {build} from 'esbuild';

/** Bundled ESM still meets CommonJS packages, which expect `require`. */
const REQUIRE_BANNER =
  "import {createRequire as __carrelRequire} from 'node:module'; const require = __carrelRequire(import.meta.url);";

/** What to bundle: entry name -> source file. */
export type Entries = Readonly<Record<string, string>>;

/** Bundles entries into `folder`, with shared code in chunks, so that a small process stays small. */
export async function bundle(entries: Entries, folder: string): Promise<void> {
  await rm(folder, {recursive: true, force: true});
  await build({
    entryPoints: {...entries},
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minify: false,
    sourcemap: false,
    legalComments: 'none',
    logLevel: 'warning',
    chunkNames: 'chunks/[name]-[hash]',
    banner: {js: REQUIRE_BANNER},
  });
}

/** Every process has its entry point in `src/bin`. */
export async function processEntries(root: string): Promise<Entries> {
  const files = (await readdir(join(root, 'src/bin')))
    .filter((f) => f.endsWith('.ts') && !f.endsWith('.test.ts'))
    .sort();
  return Object.fromEntries(files.map((f) => [basename(f, '.ts'), join(root, 'src/bin', f)]));
}
