import {rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';

/** A message for each folder that this process cannot write; volumes that ignore fsGroup look so. */
export function unwritableFolders(folders: readonly string[]): string[] {
  const found: string[] = [];
  for (const folder of folders) {
    const probe = path.join(folder, `.carrel-probe-${process.pid}`);
    try {
      writeFileSync(probe, '', {flag: 'w', mode: 0o600});
      rmSync(probe);
    } catch (cause) {
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
      found.push(`${folder} cannot be written (${code})`);
    }
  }
  return found;
}
