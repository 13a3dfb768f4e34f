import {createHash} from 'node:crypto';
import {mkdir} from 'node:fs/promises';
import {basename, join} from 'node:path';
import {say, step} from '../../progress.ts';
import {type Binaries, ensureBinaries} from '../build.ts';
import {run, runAny} from '../command.ts';
import {installPackages} from '../packages.ts';
import type {UpOptions} from '../provider.ts';
import type {Settings} from '../settings.ts';
import {waitFor} from '../wait.ts';
import {ADDON_DEPLOYMENTS, addons} from './addons.ts';
import {
  CONTROL_PLANE,
  controlPlaneArgs,
  ensureControlPlaneProcess,
  stopControlPlaneProcess,
  waitForApiServer,
} from './control-plane.ts';
import {imagePlans, pushImage} from './images.ts';
import {type Layout, layoutOf, MAX_NODES, type NodeLayout, nodeLayout} from './layout.ts';
import {ensureControlPlaneNetwork, ensureSwitch, removeNodeNetwork, setNodeLink} from './network.ts';
import {killNode, startNode} from './node.ts';
import {nodeFiles} from './node-files.ts';
import {ensurePki} from './pki.ts';
import {type ClusterRecord, findSlot, readRecord, writeRecord} from './record.ts';

type Started = {layout: Layout; record: ClusterRecord; binaries: Binaries};

/** Brings a cluster to what was asked for, from nothing, from a crash, or from a running one. */
export async function up(settings: Settings, options: UpOptions): Promise<Started> {
  await installPackages();
  for (const kernelModule of ['overlay', 'br_netfilter', 'veth', 'nf_tables'])
    await runAny('modprobe', ['-q', kernelModule]); // often built in
  const binaries = await ensureBinaries(settings.cache);
  const {layout, record} = await prepare(settings, options, binaries);
  const kubectl = (args: readonly string[], stdin?: string) =>
    run(
      join(binaries.folders.kubernetes, 'kubectl'),
      ['--kubeconfig', layout.kubeconfig, ...args],
      stdin === undefined ? {} : {stdin},
    );
  await step('start the control plane', async () => {
    await ensurePki(layout);
    await ensureSwitch(layout);
    await ensureControlPlaneNetwork(layout, record.nodes);
    for (const name of CONTROL_PLANE.slice(0, 3)) {
      await ensureControlPlaneProcess(layout, name, {binaries, apiserverArgs: record.apiserverArgs});
    }
    record.images = await ensureImages(layout, record, binaries);
    await writeRecord(settings.state, options.name, record);
    await waitForApiServer(layout, binaries);
    for (const name of CONTROL_PLANE.slice(3)) {
      await ensureControlPlaneProcess(layout, name, {binaries, apiserverArgs: record.apiserverArgs});
    }
  });
  const since = new Date();
  const started: string[] = [];
  await step(`start ${record.nodes} nodes`, async () => {
    for (let i = 1; i <= record.nodes; i++) {
      const node = nodeLayout(layout, i);
      if (await startNode(layout, node, {binaries, nodes: record.nodes})) started.push(node.name);
      await setNodeLink(layout, node, 'up');
    }
    const image = (name: string) => record.images[`carrel-cluster/${name}`] ?? '';
    const images = {coredns: image('coredns'), provisioner: image('local-path-provisioner'), busybox: image('busybox')};
    await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], JSON.stringify(addons(layout, images)));
    for (let i = 1; i <= record.nodes; i++) await waitForNode(kubectl, nodeLayout(layout, i), since);
  });
  await step('start DNS and volumes', async () => {
    try {
      for (const deployment of ADDON_DEPLOYMENTS) {
        const [namespace = '', name = ''] = deployment.split('/');
        await kubectl(['-n', namespace, 'rollout', 'status', `deployment/${name}`, '--timeout=300s']);
        for (const node of started) await waitForPods(kubectl, {namespace, node, since});
      }
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : String(error)}\n${await whatPodsSay(kubectl)}`);
    }
  });
  return {layout, record, binaries};
}

/** What a person would look at first when pods do not come up: their states and the warnings about them. */
async function whatPodsSay(kubectl: Kubectl): Promise<string> {
  const questions = [
    ['get', 'pods', '-A', '-o', 'wide'],
    ['get', 'events', '-A', '--field-selector=type=Warning', '--sort-by=.lastTimestamp'],
  ];
  const answers = await Promise.all(questions.map((args) => kubectl(args).catch((error) => String(error))));
  return answers.map((answer) => answer.trim().split('\n').slice(-30).join('\n')).join('\n');
}

type Kubectl = (args: readonly string[], stdin?: string) => Promise<string>;

/** Waits until a node is Ready and has said so after `since`: the status from before a crash does not count. */
export async function waitForNode(kubectl: Kubectl, node: NodeLayout, since: Date): Promise<void> {
  await waitFor(
    `${node.name} Ready (see \`logs ${node.name}-kubelet\`)`,
    {timeoutMs: 300_000, everyMs: 500},
    async () => {
      const renewed = await kubectl([
        '-n',
        'kube-node-lease',
        'get',
        'lease',
        node.name,
        '-o',
        'jsonpath={.spec.renewTime}',
      ]);
      if (new Date(renewed) < since) return false;
      const ready = '{.status.conditions[?(@.type=="Ready")].status}';
      return (await kubectl(['get', 'node', node.name, '-o', `jsonpath=${ready}`])) === 'True';
    },
  );
}

/** Waits until all pods of a node that was just switched on run again: their old status still says Ready. */
async function waitForPods(kubectl: Kubectl, of: {namespace: string; node: string; since: Date}): Promise<void> {
  const each =
    '{range .items[*]}{.status.conditions[?(@.type=="Ready")].status} {.status.containerStatuses[0].state.running.startedAt}{"\\n"}{end}';
  const query = [
    '-n',
    of.namespace,
    'get',
    'pods',
    `--field-selector=spec.nodeName=${of.node},status.phase=Running`,
    '-o',
    `jsonpath=${each}`,
  ];
  // The times of containers have whole seconds.
  const from = Math.floor(of.since.getTime() / 1000) * 1000;
  await waitFor(`pods of ${of.namespace} on ${of.node}`, {timeoutMs: 300_000, everyMs: 500}, async () => {
    const lines = (await kubectl(query)).split('\n').filter((line) => line.trim() !== '');
    return lines.every((line) => line.startsWith('True ') && new Date(line.slice(5)).getTime() >= from);
  });
}

/** Refuses names and numbers that no cluster can have. */
export function checkOptions({name, nodes}: UpOptions): void {
  if (!/^[a-z][a-z0-9-]{0,30}$/.test(name))
    throw new Error(`--name ${name}: allowed are a-z, 0-9 and -, starting with a letter, at most 31 characters`);
  if (nodes !== undefined && !(Number.isInteger(nodes) && nodes >= 1 && nodes <= MAX_NODES)) {
    throw new Error(`--nodes ${nodes}: allowed are 1 to ${MAX_NODES}`);
  }
}

/** Names everything that the running processes were made from: the binaries, and what they are told. */
async function describeBuild(layout: Layout, binaries: Binaries): Promise<string> {
  const told = [
    controlPlaneArgs(layout),
    await nodeFiles(layout, nodeLayout(layout, 1), ''),
    await imagePlans(binaries),
  ];
  const hash = createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 16);
  return [...Object.values(binaries.folders).map((folder) => basename(folder)), `settings-${hash}`].join(' ');
}

/** Writes down what the cluster shall be, and ends what of the running one does not fit. */
async function prepare(
  settings: Settings,
  options: UpOptions,
  binaries: Binaries,
): Promise<{layout: Layout; record: ClusterRecord}> {
  const {state} = settings;
  const old = await readRecord(state, options.name);
  const slot = old?.slot ?? (await findSlot(state));
  const layout = layoutOf(state, options.name, slot);
  const build = await describeBuild(layout, binaries);
  const record: ClusterRecord = {
    slot,
    nodes: options.nodes ?? old?.nodes ?? 2,
    apiserverArgs: options.apiserverArgs ?? old?.apiserverArgs ?? [],
    build,
    images: old?.build === build ? old.images : {},
  };
  await writeRecord(state, options.name, record);
  await mkdir(layout.logs, {recursive: true});
  if (old && old.build !== build) {
    say('the binaries or their settings have changed: all processes are started anew');
    for (let i = 1; i <= old.nodes; i++) await killNode(layout, nodeLayout(layout, i));
    for (const name of [...CONTROL_PLANE].reverse()) await stopControlPlaneProcess(layout, name);
  }
  if (old && old.apiserverArgs.join(' ') !== record.apiserverArgs.join(' '))
    await stopControlPlaneProcess(layout, 'kube-apiserver');
  for (let i = record.nodes + 1; i <= (old?.nodes ?? 0); i++) {
    await killNode(layout, nodeLayout(layout, i));
    await removeNodeNetwork(layout, nodeLayout(layout, i));
    const kubectl = join(binaries.folders.kubernetes, 'kubectl');
    await runAny(kubectl, [
      '--kubeconfig',
      layout.kubeconfig,
      '--request-timeout=5s',
      'delete',
      'node',
      `n${i}`,
      '--ignore-not-found',
    ]);
  }
  return {layout, record};
}

/** Pushes the cluster's own images, unless the registry has them. */
async function ensureImages(
  layout: Layout,
  record: ClusterRecord,
  binaries: Binaries,
): Promise<Record<string, string>> {
  const crane = join(binaries.folders.crane, 'crane');
  await waitFor(
    'the registry',
    {timeoutMs: 30_000, everyMs: 100},
    async () => (await fetch(`http://${layout.registry}/v2/`)).ok,
  );
  const images: Record<string, string> = {};
  for (const plan of await imagePlans(binaries)) {
    const known = record.images[plan.repository];
    const there = known !== undefined && (await runAny(crane, ['digest', '--insecure', known])).code === 0;
    images[plan.repository] = there ? known : await pushImage(layout.registry, crane, plan);
  }
  return images;
}
