import {beforeAll, expect, test} from 'vitest';
import {type Cluster, openCluster} from '../../../hack/cluster/cluster.ts';
import {existingProvider} from '../../../hack/cluster/existing.ts';
import type {Provider} from '../../../hack/cluster/provider.ts';
import {DEFAULT_CLUSTER, readSettings} from '../../../hack/cluster/settings.ts';

let native: Cluster;
let provider: Provider;
beforeAll(async () => {
  native = await openCluster();
  provider = existingProvider(readSettings(), {kubeconfig: native.kubeconfigPath, registry: native.registry});
});

test('a cluster that somebody else runs is used as it is', async () => {
  const cluster = await provider.up({name: DEFAULT_CLUSTER});
  expect(cluster.nodes).toEqual(native.nodes);
  expect(JSON.parse(await cluster.kubectl(['get', '--raw', '/version'])).gitVersion).toMatch(/^v1\./);
});

test('what would change it is refused by name, and a second one cannot be asked for', async () => {
  const cluster = await provider.open(DEFAULT_CLUSTER);
  await expect(cluster.node('n1').kill()).rejects.toThrow('killing a node is not possible with CARREL_KUBECONFIG');
  await expect(cluster.apiserver.stop()).rejects.toThrow('stopping the API server is not possible');
  await expect(cluster.compact()).rejects.toThrow('a compaction is not possible');
  await expect(provider.up({name: 'other'})).rejects.toThrow('a second cluster other is not possible');
  await expect(provider.up({name: DEFAULT_CLUSTER, apiserverArgs: ['--x']})).rejects.toThrow('apiserverArgs is not');
  await provider.down(DEFAULT_CLUSTER);
  expect(await native.kubectl(['get', 'nodes', '-o', 'name'])).toContain('node/');
});
