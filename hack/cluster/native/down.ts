import {rm, rmdir} from 'node:fs/promises';
import {step} from '../../progress.ts';
import {runAny} from '../command.ts';
import {waitFor} from '../wait.ts';
import {removeCgroups} from './cgroups.ts';
import {CONTROL_PLANE, stopControlPlaneProcess} from './control-plane.ts';
import {type Layout, layoutOf, nodeLayout} from './layout.ts';
import {namespacesOf, removeNetwork} from './network.ts';
import {killNode} from './node.ts';
import {sendSignal} from './process.ts';
import {readRecord} from './record.ts';

/** Removes a cluster without a trace: processes, namespaces, links, cgroups, files. */
export async function down(state: string, name: string): Promise<void> {
  const record = await readRecord(state, name);
  if (!record) return;
  const layout = layoutOf(state, name, record.slot);
  await step(`remove cluster ${name}`, async () => {
    for (let i = 1; i <= record.nodes; i++) await killNode(layout, nodeLayout(layout, i));
    for (const process of [...CONTROL_PLANE].reverse()) await stopControlPlaneProcess(layout, process, 1_000);
    await endStrays(layout);
    await removeNetwork(layout.prefix);
    await removeCgroups(layout.prefix);
    await rm(layout.folder, {recursive: true, force: true});
  });
}

/** Removes the state folder once nothing is in it. */
export async function removeEmptyState(state: string): Promise<void> {
  await rmdir(state).catch(() => {}); // other clusters are there
}

/** Ends what runs in the cluster's network namespaces without being written down, for instance after a crash of `up`. */
async function endStrays(layout: Layout): Promise<void> {
  for (const namespace of await namespacesOf(layout.prefix)) {
    const strays = async () =>
      (await runAny('ip', ['netns', 'pids', namespace])).stdout
        .split('\n')
        .map(Number)
        .filter((pid) => pid > 0);
    for (const pid of await strays()) sendSignal(pid, 'SIGKILL');
    await waitFor(
      `end of all processes in ${namespace}`,
      {timeoutMs: 10_000, everyMs: 50},
      async () => (await strays()).length === 0,
    );
  }
}
