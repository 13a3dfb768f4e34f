import {readdir, readFile} from 'node:fs/promises';
import type {Place} from '../../support/release.ts';

/**
 * The process of that entry point in that pod, by command line and cgroup: the nodes of the test cluster are namespaces of
 * this machine. Undefined where the cluster runs elsewhere.
 */
export async function processOf(
  place: Place,
  podUid: string,
  entry: 'runner' | 'shim' | 'gateway',
): Promise<number | undefined> {
  if (place.release.cluster.networks === undefined) return undefined;
  for (const pid of (await readdir('/proc')).filter((p) => /^[0-9]+$/.test(p))) {
    const [command, group] = await Promise.all([read(`/proc/${pid}/cmdline`), read(`/proc/${pid}/cgroup`)]);
    const [program, ...args] = command.split('\0');
    const isNode = program?.endsWith('/bin/node') === true && args.some((arg) => arg.endsWith(`/app/${entry}.js`));
    if (isNode && group.includes(podUid)) return Number(pid);
  }
  throw new Error(`no ${entry} runs in the pod ${podUid}`);
}

/** A process may end while it is looked at. */
function read(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
