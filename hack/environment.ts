import {type Cluster, up} from './cluster/cluster.ts';
import {run} from './cluster/command.ts';
import {readSettings} from './cluster/settings.ts';
import {buildImages, type Images, imageCache, ROOT} from './image/build.ts';
import {step} from './progress.ts';

/** A cluster with Carrel installed, as demo, tests and bench use it. */
export interface Environment {
  cluster: Cluster;
  images: Images;
  /** Namespace of the release. */
  release: string;
}

/** Namespace that the scripts install the release into. */
export const RELEASE_NAMESPACE = 'carrel-system';

/** Helm values that a script adds to those of the cluster. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * Values of the clusters that these scripts make: the relay may reach the model upstream of the tests, which is a Service
 * on port 8443 of the cluster itself. The demo uses the same, so that neither restarts the other's processes.
 */
export const TEST_VALUES: Values = {egress: {allowPrivate: ['0.0.0.0/0:8443']}};

/** Brings up the cluster, builds the images and installs the chart; everything that is there already is kept. */
export async function prepare(values: Values = {}): Promise<Environment> {
  const cluster = await up();
  const images = await buildImages({
    registry: cluster.registry,
    crane: cluster.tools.crane,
    cache: imageCache(readSettings().cache),
  });
  await step('Carrel: helm install', () => install(cluster, images, values));
  return {cluster, images, release: RELEASE_NAMESPACE};
}

/** Installs or upgrades the chart and waits until every process is ready. */
export async function install(cluster: Cluster, images: Images, values: Values = {}): Promise<void> {
  const all = {image: {reference: images.runtime}, egress: egressValues(cluster, values), ...withoutEgress(values)};
  const args = ['upgrade', '--install', 'carrel', `${ROOT}/charts/carrel`];
  const how = [
    '--namespace',
    RELEASE_NAMESPACE,
    '--create-namespace',
    '--take-ownership',
    '--force-conflicts', // the cluster is ours, and a test or a hand may have changed what the chart says
    '--wait',
    '--timeout',
    '300s',
    '--values',
    '-',
  ];
  await run(cluster.tools.helm, [...args, ...how], {
    env: {KUBECONFIG: cluster.kubeconfigPath},
    stdin: JSON.stringify(all),
  });
}

function egressValues(cluster: Cluster, values: Values): object {
  const given = typeof values['egress'] === 'object' && values['egress'] !== null ? values['egress'] : {};
  const {nodes, pods, services} = cluster.networks ?? {};
  const ranges = [nodes, pods, services].filter((r) => r !== undefined);
  return {clusterCidrs: ranges, ...given};
}

function withoutEgress(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => name !== 'egress'));
}
