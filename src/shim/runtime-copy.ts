import {chmodSync, cpSync, readdirSync} from 'node:fs';
import path from 'node:path';

/** Execute only: the kernel then lets no process of the agent's trace or read one that runs such a file. */
const EXECUTE_ONLY = 0o711;

/** Copies the runtime where image volumes are missing; it runs as the runner's user, who so owns the copy. */
export function copyRuntime(from: string, to: string): void {
  cpSync(from, to, {recursive: true, verbatimSymlinks: true});
  const binaries = path.join(to, 'bin');
  for (const name of readdirSync(binaries)) chmodSync(path.join(binaries, name), EXECUTE_ONLY);
}
