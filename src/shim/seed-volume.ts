import {
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {DATA} from '../api/pod.ts';

/** The workspace holds content that no finished seeding put there: seeding over it could destroy work. */
export class SeedIncomplete extends Error {
  override name = 'SeedIncomplete';
}

/** The workspace image has no folder to seed from. */
export class NoSource extends Error {
  override name = 'NoSource';
}

/**
 * Makes the folders of a session's volume, and fills the workspace from `source` once. Copied aside, renamed, then marked
 * outside everything that the agent mounts: whatever moment it is killed at, the next try knows where it stands.
 */
export function seedVolume(volume: string, source: string | undefined): 'seeded' | 'present' {
  const workspace = path.join(volume, DATA.workspace);
  const temporary = path.join(volume, DATA.seedTemporary);
  const marker = path.join(volume, DATA.seedMarker);
  mkdirSync(path.join(volume, DATA.home), {recursive: true});
  if (existsSync(marker)) return 'present';
  if (existsSync(workspace) && readdirSync(workspace).length > 0) {
    throw new SeedIncomplete(
      'the workspace holds content but no seed marker, so it is not seeded: delete the volume claim to seed anew',
    );
  }
  if (source !== undefined && statSync(source, {throwIfNoEntry: false})?.isDirectory() !== true) {
    throw new NoSource(`the workspace image has no folder ${source}`);
  }
  rmSync(temporary, {recursive: true, force: true});
  if (source === undefined) {
    mkdirSync(workspace, {recursive: true});
  } else {
    cpSync(source, temporary, {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
      // Sockets and devices of an image mean nothing in a workspace.
      filter: (from) => isPlain(from),
    });
    flush(temporary);
    renameSync(temporary, workspace);
  }
  flush(volume);
  writeFileSync(marker, '', {flush: true});
  flush(volume);
  return 'seeded';
}

function isPlain(file: string): boolean {
  const stat = lstatSync(file);
  return stat.isFile() || stat.isDirectory() || stat.isSymbolicLink();
}

function flush(folder: string): void {
  const open = openSync(folder, 'r');
  fsyncSync(open);
  closeSync(open);
}
