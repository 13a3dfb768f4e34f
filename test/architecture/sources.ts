import {readdirSync, readFileSync} from 'node:fs';
import {join, relative} from 'node:path';

/** Root of the repository. */
export const ROOT = join(import.meta.dirname, '../..');

const SKIPPED = new Set(['node_modules', 'dist', '.git', 'go']);

/** One TypeScript file: path from the root of the repository, and its lines. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
}

/** All files below these folders whose names end so; paths from the root, sorted. */
export function filesBelow(folders: readonly string[], endings: readonly string[]): string[] {
  return folders
    .flatMap((folder) => walk(join(ROOT, folder)))
    .map((path) => relative(ROOT, path))
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .sort();
}

/** TypeScript files below these folders. */
export function sourcesBelow(...folders: string[]): Source[] {
  return filesBelow(folders, ['.ts']).map((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return {path, text, lines: text.split('\n').length - 1};
  });
}

/** What a file imports or exports from elsewhere: specifiers as they are written. */
export function importsOf(source: Source): string[] {
  const found = source.text.matchAll(/(?:^|[;\s}])(?:from|import) ?\(?'([@\w./:-]+)'/g);
  return [...found].flatMap((match) => (match[1] === undefined ? [] : [match[1]]));
}

/** Folder below src that a file of src lies in: its layer. */
export function layerOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function walk(folder: string): string[] {
  let entries: ReturnType<typeof list>;
  try {
    entries = list(folder);
  } catch {
    return [];
  }
  return entries.flatMap((entry) => {
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : walk(join(folder, entry.name));
    return [join(folder, entry.name)];
  });
}

function list(folder: string) {
  return readdirSync(folder, {withFileTypes: true});
}
