// `npm run gen`: writes every generated file of the repository. `hack/verify.ts` asks the same list whether it is up to date.
import {mkdir, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {generatedFiles, generatedFolders} from './generate/files.ts';

const ROOT = join(import.meta.dirname, '..');

/** Paths of generated files that differ from what the sources give: stale, missing, or left over. */
export async function outdated(): Promise<string[]> {
  const wanted = generatedFiles();
  const changed: string[] = [];
  for (const [path, content] of wanted) {
    if ((await read(path)) !== content) changed.push(path);
  }
  return [...changed, ...(await leftOver(wanted))];
}

/** Writes what is outdated and removes what is left over; returns the paths. */
export async function generate(): Promise<string[]> {
  const wanted = generatedFiles();
  const changed = await outdated();
  for (const path of changed) {
    const content = wanted.get(path);
    if (content === undefined) {
      await rm(join(ROOT, path));
    } else {
      await mkdir(dirname(join(ROOT, path)), {recursive: true});
      await writeFile(join(ROOT, path), content);
    }
  }
  return changed;
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await readFile(join(ROOT, path), 'utf8');
  } catch {
    return undefined;
  }
}

async function leftOver(wanted: ReadonlyMap<string, string>): Promise<string[]> {
  const found: string[] = [];
  for (const folder of generatedFolders) {
    const names = await readdir(join(ROOT, folder)).catch(() => []);
    found.push(...names.map((name) => `${folder}/${name}`).filter((path) => !wanted.has(path)));
  }
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const changed = await generate();
  process.stdout.write(changed.length === 0 ? 'generated files are up to date\n' : `${changed.join('\n')}\n`);
}
