import {existsSync} from 'node:fs';
import {mkdir, readdir, readFile, rmdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {waitFor} from '../wait.ts';
import {cgroupRoots} from './node-files.ts';

/** Makes the cgroup under which the kubelet puts all pods of a node. */
export async function ensureCgroup(name: string): Promise<void> {
  for (const root of await cgroupRoots()) {
    const folder = join(root, name);
    await mkdir(folder, {recursive: true});
    // Version 1: a new cpuset holds nothing until it is told what it may use.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      const own = join(folder, file);
      if (existsSync(own)) await writeFile(own, await readFile(join(root, file))).catch(() => {});
    }
    // Version 2: controllers reach a child only when its parent passes them on.
    const passed = join(root, 'cgroup.subtree_control');
    if (existsSync(passed)) {
      for (const controller of ['cpu', 'cpuset', 'memory', 'pids', 'io'])
        await writeFile(passed, `+${controller}`).catch(() => {});
    }
  }
}

/** Removes every cgroup whose name starts so; the processes in them have ended, the kernel may need a moment to notice. */
export async function removeCgroups(prefix: string): Promise<void> {
  for (const root of await cgroupRoots()) {
    for (const name of await readdir(root).catch(() => [])) {
      if (name !== prefix && !name.startsWith(`${prefix}-`)) continue;
      await waitFor(`removal of cgroup ${join(root, name)}`, {timeoutMs: 15_000}, () => removeTree(join(root, name)));
    }
  }
}

async function removeTree(folder: string): Promise<boolean> {
  const entries = await readdir(folder, {withFileTypes: true}).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(folder, entry.name));
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  return true;
}
