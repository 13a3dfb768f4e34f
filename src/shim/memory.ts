import {readFileSync} from 'node:fs';

/** Counter files of cgroup v2 and v1, as a container sees its own. */
const COUNTERS = ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control'];

/** How many processes of this container the kernel has killed for lack of memory; 0 where nothing tells. */
export function outOfMemoryKills(files: readonly string[] = COUNTERS): number {
  for (const file of files) {
    try {
      return parseKills(readFileSync(file, 'utf8'));
    } catch {
      // The other cgroup version, or a runtime that hides it.
    }
  }
  return 0;
}

/** Value of `oom_kill` in the text of either file. */
export function parseKills(text: string): number {
  const match = /^oom_kill (\d+)$/m.exec(text);
  return match?.[1] === undefined ? 0 : Number(match[1]);
}
