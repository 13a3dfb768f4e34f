import {existsSync} from 'node:fs';
import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {type Binaries, findBinaries} from '../build.ts';
import {run} from '../command.ts';
import type {Cluster, NodeHandle, Provider, StatusLine} from '../provider.ts';
import type {Settings} from '../settings.ts';
import {CONTROL_PLANE, ensureControlPlaneProcess, stopControlPlaneProcess, waitForApiServer} from './control-plane.ts';
import {down, removeEmptyState} from './down.ts';
import {compactEtcd} from './etcd.ts';
import {type Layout, type NodeLayout, nodeLayout} from './layout.ts';
import {withLock} from './lock.ts';
import {isPartitioned, setNodeLink} from './network.ts';
import {killNode, startNode, stopNode} from './node.ts';
import {findProcess} from './process.ts';
import {type ClusterRecord, requireLayout} from './record.ts';
import {checkOptions, up, waitForNode} from './up.ts';

/** Kubernetes made of its own processes on this machine: every node in namespaces of its own. */
export function nativeProvider(settings: Settings): Provider {
  const {state, cache} = settings;
  const open = async (name: string) => {
    const {layout, record} = await requireLayout(state, name);
    return clusterOf(layout, record, await findBinaries(cache));
  };
  return {
    name: 'native',
    open,
    up: async (options) => {
      checkOptions(options);
      const started = await withLock(state, options.name, () => up(settings, options));
      return clusterOf(started.layout, started.record, started.binaries);
    },
    down: async (name) => {
      if (!existsSync(join(state, name))) return;
      await withLock(state, name, () => down(state, name));
      await removeEmptyState(state);
    },
    status: async (name) => {
      const {layout, record} = await requireLayout(state, name);
      return status(layout, record, await open(name));
    },
    logs: async (name) => {
      const {layout} = await requireLayout(state, name);
      const files = await readdir(layout.logs).catch(() => []);
      const byName = files.sort().map((file) => [file.replace(/\.log$/, ''), join(layout.logs, file)] as const);
      return {...Object.fromEntries(byName), audit: layout.auditLog};
    },
  };
}

function clusterOf(layout: Layout, record: ClusterRecord, binaries: Binaries): Cluster {
  const {folders} = binaries;
  const tools = {
    kubectl: join(folders.kubernetes, 'kubectl'),
    crane: join(folders.crane, 'crane'),
    helm: join(folders.helm, 'helm'),
  };
  const kubectl = (args: readonly string[], stdin?: string) =>
    run(tools.kubectl, ['--kubeconfig', layout.kubeconfig, ...args], stdin === undefined ? {} : {stdin});
  const nodes = Array.from({length: record.nodes}, (_, i) => nodeLayout(layout, i + 1));
  const busyboxImage = record.images['carrel-cluster/busybox'];
  return {
    name: layout.name,
    provider: 'native',
    kubeconfigPath: layout.kubeconfig,
    registry: layout.registry,
    auditLogPath: layout.auditLog,
    apiServer: {address: layout.controlPlane.address, port: 6443},
    networks: layout.networks,
    dnsAddress: layout.dnsAddress,
    ...(busyboxImage === undefined ? {} : {busyboxImage}),
    tools,
    nodes: nodes.map((node) => node.name),
    kubectl,
    node: (name) => {
      const node = nodes.find((one) => one.name === name);
      if (!node) throw new Error(`there is no node ${name}: the nodes are ${nodes.map((one) => one.name).join(', ')}`);
      return nodeHandle(layout, node, {binaries, nodes: record.nodes, kubectl});
    },
    apiserver: {
      stop: () => stopControlPlaneProcess(layout, 'kube-apiserver'),
      kill: () => stopControlPlaneProcess(layout, 'kube-apiserver', 0),
      start: async () => {
        await ensureControlPlaneProcess(layout, 'kube-apiserver', {binaries, apiserverArgs: record.apiserverArgs});
        await waitForApiServer(layout, binaries);
      },
    },
    compact: () => compactEtcd(layout),
  };
}

function nodeHandle(
  layout: Layout,
  node: NodeLayout,
  parts: {binaries: Binaries; nodes: number; kubectl: Cluster['kubectl']},
): NodeHandle {
  return {
    name: node.name,
    address: node.address,
    stop: () => stopNode(layout, node),
    kill: () => killNode(layout, node),
    start: async () => {
      const since = new Date();
      await startNode(layout, node, parts);
      await waitForNode(parts.kubectl, node, since);
    },
    partition: () => setNodeLink(layout, node, 'down'),
    heal: () => setNodeLink(layout, node, 'up'),
  };
}

async function status(layout: Layout, record: ClusterRecord, cluster: Cluster): Promise<StatusLine[]> {
  const lines: StatusLine[] = [];
  for (const name of CONTROL_PLANE) {
    const pid = await findProcess(layout.pids, name);
    lines.push({
      what: name,
      state: pid === undefined ? 'stopped' : 'running',
      detail: pid === undefined ? '' : `pid ${pid}`,
    });
  }
  const ready = await cluster
    .kubectl([
      '--request-timeout=5s',
      'get',
      'nodes',
      '-o',
      'jsonpath={range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status} {end}',
    ])
    .catch(() => '');
  for (let i = 1; i <= record.nodes; i++) {
    const node = nodeLayout(layout, i);
    const running = (await findProcess(layout.pids, node.name)) !== undefined;
    const cut = await isPartitioned(layout, node);
    const said = new RegExp(`\\b${node.name}=(\\w+)`).exec(ready)?.[1] ?? 'not known';
    lines.push({
      what: node.name,
      state: !running ? 'stopped' : cut ? 'partitioned' : 'running',
      detail: `${node.address}, Ready ${said}`,
    });
  }
  return lines;
}
