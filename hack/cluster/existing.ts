import {existsSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import {ensureBinaries} from './build.ts';
import {run} from './command.ts';
import {IMAGE_PACKAGES, installPackages} from './packages.ts';
import type {Cluster, NodeHandle, Provider, Tools} from './provider.ts';
import {DEFAULT_CLUSTER, type Settings} from './settings.ts';

function onPath(command: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, command)).find((path) => existsSync(path));
}

async function findTools(cache: string): Promise<Tools> {
  const kubectl = onPath('kubectl');
  const {folders} = await ensureBinaries(cache, kubectl ? ['crane', 'helm'] : ['kubernetes', 'crane', 'helm']);
  return {
    kubectl: kubectl ?? join(folders.kubernetes, 'kubectl'),
    crane: join(folders.crane, 'crane'),
    helm: join(folders.helm, 'helm'),
  };
}

/** A cluster that somebody else runs, described by CARREL_KUBECONFIG and CARREL_REGISTRY: nodes and control plane are never touched. */
export function existingProvider(
  settings: Settings,
  {kubeconfig, registry}: {kubeconfig: string; registry: string},
): Provider {
  const refuse = (what: string) => async () => {
    throw new Error(
      `${what} is not possible with CARREL_KUBECONFIG: this cluster is not ours. Unset it to use a native cluster`,
    );
  };
  const open = async (name: string): Promise<Cluster> => {
    const tools = await findTools(settings.cache);
    const kubectl = (args: readonly string[], stdin?: string) =>
      run(tools.kubectl, ['--kubeconfig', kubeconfig, ...args], stdin === undefined ? {} : {stdin});
    const nodes = (await kubectl(['get', 'nodes', '-o', 'name']))
      .trim()
      .split('\n')
      .map((line) => line.replace('node/', ''));
    const node = (one: string): NodeHandle => ({
      name: one,
      address: '',
      stop: refuse('stopping a node'),
      start: refuse('starting a node'),
      kill: refuse('killing a node'),
      partition: refuse('a partition'),
      heal: refuse('a partition'),
    });
    const apiserver = {
      stop: refuse('stopping the API server'),
      start: refuse('starting the API server'),
      kill: refuse('killing the API server'),
    };
    return {
      name,
      provider: 'existing',
      kubeconfigPath: kubeconfig,
      registry,
      tools,
      nodes,
      kubectl,
      node,
      apiserver,
      compact: refuse('a compaction'),
    };
  };
  return {
    name: 'existing',
    open,
    up: async (options) => {
      const own = Object.entries(options).find(([key, value]) => key !== 'name' && value !== undefined)?.[0];
      if (own !== undefined || options.name !== DEFAULT_CLUSTER)
        await refuse(own ?? `a second cluster ${options.name}`)();
      await installPackages(IMAGE_PACKAGES);
      return open(options.name);
    },
    // What was installed into it goes with `npm run demo -- --down`; the cluster stays.
    down: async () => {},
    status: async (name) => {
      const cluster = await open(name);
      return cluster.nodes.map((one) => ({what: one, state: 'listed', detail: kubeconfig}));
    },
    logs: async () => ({}),
  };
}
