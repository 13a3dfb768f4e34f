import {mkdirSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';

/** A file of the Agent that cannot be written where it is asked for. */
export class FileRefused extends Error {
  override name = 'FileRefused';
}

/** Absolute path of a file named relative to `home`; throws `FileRefused` for a path that leaves it. */
export function placeInHome(home: string, relative: string): string {
  const parts = relative.split('/');
  const bad =
    relative.length === 0 ||
    relative.includes('\0') ||
    path.isAbsolute(relative) ||
    parts.some((part) => part === '' || part === '.' || part === '..');
  if (bad) {
    throw new FileRefused(`files: path ${JSON.stringify(relative)} must name a file inside $HOME, without . or ..`);
  }
  return path.join(home, ...parts);
}

/** Writes the Agent's files with the rights of this process, mode 0600; a link in the last place is replaced, not followed. */
export function writeFiles(home: string, files: readonly {path: string; content: string}[]): void {
  for (const file of files) {
    const target = placeInHome(home, file.path);
    const temporary = `${target}.carrel-new`;
    try {
      mkdirSync(path.dirname(target), {recursive: true, mode: 0o700});
      rmSync(temporary, {force: true});
      writeFileSync(temporary, file.content, {mode: 0o600, flag: 'wx'});
      renameSync(temporary, target);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new FileRefused(`files: ${JSON.stringify(file.path)} cannot be written: ${message}`, {cause});
    }
  }
}
