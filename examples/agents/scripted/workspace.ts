import {glob, mkdir, readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {dirname, join, resolve} from 'node:path';
import type {Handler} from './instructions.ts';

/** Lines of a file that `read` shows. */
const SHOWN = 5;
const SKIPPED = new Set(['.git', 'node_modules']);

/** `read PATH`: the first lines of a file; a path that begins with a slash is taken as it is. */
export const read: Handler = async (path, turn) => {
  const text = await turn.call(`read ${path}`, {path}, () => readFile(resolve(turn.ports.cwd, path), 'utf8'));
  await turn.say(`${path}:\n${text.split('\n').slice(0, SHOWN).join('\n')}\n`);
};

/** `write PATH TEXT`: writes a file of the workspace. */
export const write: Handler = async (argument, turn) => {
  const [path = '', ...words] = argument.split(' ');
  const target = resolve(turn.ports.cwd, path);
  await mkdir(dirname(target), {recursive: true});
  await writeFile(target, `${words.join(' ')}\n`);
  await turn.say(`wrote ${path}\n`);
};

/** `count FOLDER` or `count GLOB`: how many files there are, and the title of the README. */
export const count: Handler = async (argument, turn) => {
  const {cwd} = turn.ports;
  const what = argument === '' ? '.' : argument;
  const found = await turn.call(`count ${what}`, {what}, async () =>
    what.includes('*') ? await countMatches(cwd, what) : await countBelow(resolve(cwd, what)),
  );
  const title = await titleOf(join(what.includes('*') ? cwd : resolve(cwd, what), 'README.md'));
  await turn.say(
    `${what} holds ${found} files; ${title === undefined ? 'no README.md' : `README.md is titled "${title}"`}\n`,
  );
};

async function countMatches(cwd: string, pattern: string): Promise<number> {
  let found = 0;
  for await (const path of glob(pattern, {cwd, exclude: (name) => SKIPPED.has(name)})) {
    if ((await stat(join(cwd, path))).isFile()) found += 1;
  }
  return found;
}

async function countBelow(folder: string): Promise<number> {
  let found = 0;
  for (const entry of await readdir(folder, {withFileTypes: true})) {
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) found += await countBelow(join(folder, entry.name));
    else if (!entry.isDirectory()) found += 1;
  }
  return found;
}

async function titleOf(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8'))
      .split('\n')
      .find((line) => line.startsWith('# '))
      ?.slice(2);
  } catch {
    return undefined;
  }
}
