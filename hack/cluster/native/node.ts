import {mkdir} from 'node:fs/promises';
import {basename, join} from 'node:path';
import type {Binaries} from '../build.ts';
import {waitFor} from '../wait.ts';
import {ensureCgroup, removeCgroups} from './cgroups.ts';
import type {Layout, NodeLayout} from './layout.ts';
import {renewNodeNetwork} from './network.ts';
import {writeNodeFiles} from './node-files.ts';
import {ensureNodePki} from './pki.ts';
import {findProcess, firstChild, sendSignal, startProcess, stopProcess} from './process.ts';

const SWITCH_OFF_MS = 12_000; // node-init gives its processes ten seconds

/** Switches a node on, unless it runs, and says whether it did. Its disk (images, volumes, kubelet state) is as it was left. */
export async function startNode(
  layout: Layout,
  node: NodeLayout,
  size: {binaries: Binaries; nodes: number},
): Promise<boolean> {
  if ((await findProcess(layout.pids, node.name)) !== undefined) return false;
  await mkdir(node.folder, {recursive: true});
  await removeCgroups(node.cgroup);
  await ensureCgroup(node.cgroup);
  await ensureNodePki(layout, node);
  await writeNodeFiles(layout, node);
  await renewNodeNetwork(layout, node, size.nodes);
  const {folders, root} = size.binaries;
  const parts = [folders.kubernetes, folders.containerd, folders['kube-router']];
  await startProcess(layout.pids, {
    name: node.name,
    namespace: node.namespace,
    command: [
      'unshare',
      '--mount',
      '--pid',
      '--ipc',
      '--uts',
      '--fork',
      '--kill-child',
      'bash',
      join(node.folder, 'node-init.sh'),
    ],
    env: {
      NODE: node.name,
      NODE_FOLDER: node.folder,
      LOG_FOLDER: layout.logs,
      BIN_ROOT: root,
      BIN_FOLDERS: parts.map((part) => basename(part)).join(' '),
      ADDRESS: node.address,
      POD_NETWORK: layout.networks.pods,
      SERVICE_NETWORK: layout.networks.services,
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    },
    log: join(layout.logs, `${node.name}-init.log`),
  });
  return true;
}

/** Switches a node off in order: every process is asked to end first. */
export async function stopNode(layout: Layout, node: NodeLayout): Promise<void> {
  const pid = await findProcess(layout.pids, node.name);
  const init = pid === undefined ? undefined : await firstChild(pid);
  if (init !== undefined) {
    sendSignal(init, 'SIGTERM');
    const gone = async () => (await findProcess(layout.pids, node.name)) === undefined;
    await waitFor(`end of ${node.name}`, {timeoutMs: SWITCH_OFF_MS, everyMs: 50}, gone).catch(() => {});
  }
  await killNode(layout, node);
}

/** Pulls a node's plug: its whole PID namespace dies with its first process, pods included. */
export async function killNode(layout: Layout, node: NodeLayout): Promise<void> {
  await stopProcess(layout.pids, node.name, 0); // `unshare --kill-child` takes the first process with it
  await removeCgroups(node.cgroup);
}
