import {readdir, rm} from 'node:fs/promises';
import http from 'node:http';
import {basename, join} from 'node:path';
import {build, type Plugin} from 'esbuild';

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
    // Names stay, so that stack traces can be read; what is left out is parsed at each start of each process.
    minifyWhitespace: true,
    minifySyntax: true,
    plugins: [englishOnly, httpAlone],
    sourcemap: false,
    legalComments: 'none',
    logLevel: 'warning',
    chunkNames: 'chunks/[name]-[hash]',
    banner: {js: REQUIRE_BANNER},
  });
}

/** zod brings its messages in 50 languages; every process would parse them at its start, and ours are English. */
const englishOnly: Plugin = {
  name: 'english-only',
  setup(builder) {
    builder.onLoad({filter: /zod\/v4\/locales\/index\.js$/}, () => ({
      contents: `export {default as en} from ${JSON.stringify('./en.js')};`,
      loader: 'js',
    }));
  },
};

/**
 * Linking `node:http` as a module reads each of its exports, and with the browser's WebSocket among them loads a whole HTTP
 * client that no process of ours uses: a fifth of the time that the runner needs to start. Asked for as an object, it is
 * not loaded. What is lazy there cannot be imported.
 */
const httpAlone: Plugin = {
  name: 'http-alone',
  setup(builder) {
    builder.onResolve({filter: /^(node:)?http$/}, ({kind}) =>
      kind === 'import-statement' ? {path: 'node:http', namespace: 'http-alone'} : undefined,
    );
    const eager = Object.entries(Object.getOwnPropertyDescriptors(http)).filter(([, {get}]) => get === undefined);
    const names = eager.map(([name]) => name).filter((name) => name !== 'default');
    builder.onLoad({filter: /.*/, namespace: 'http-alone'}, () => ({
      contents: [
        "const http = process.getBuiltinModule('node:http');",
        'export default http;',
        `export const {${names.join(', ')}} = http;`,
      ].join('\n'),
      loader: 'js',
    }));
  },
};

/** Every process has its entry point in `src/bin`. */
export async function processEntries(root: string): Promise<Entries> {
  const files = (await readdir(join(root, 'src/bin')))
    .filter((f) => f.endsWith('.ts') && !f.endsWith('.test.ts'))
    .sort();
  return Object.fromEntries(files.map((f) => [basename(f, '.ts'), join(root, 'src/bin', f)]));
}
