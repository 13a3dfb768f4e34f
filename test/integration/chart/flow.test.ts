import {get} from 'node:https';
import {expect, it} from 'vitest';
import {openCluster} from '../../../hack/cluster/cluster.ts';
import {RELEASE_NAMESPACE} from '../../../hack/environment.ts';
import {fromKubeconfig} from '../../../src/kube/kubeconfig.ts';

/** UID of the FlowSchema that the API server put a request with this token under, as its answer says. */
async function flowOf(kubeconfig: string, token: string): Promise<unknown> {
  const {server, credentials} = fromKubeconfig(kubeconfig);
  const url = new URL('/apis/carrel.dev/v1alpha1/sessions?limit=1', server);
  return await new Promise((resolve, reject) => {
    const request = get(url, {ca: credentials().ca, headers: {authorization: `Bearer ${token}`}}, (answer) => {
      answer.resume();
      resolve(answer.headers['x-kubernetes-pf-flowschema-uid']);
    });
    request.once('error', reject);
  });
}

it('requests of controller and gateway have a queue of their own at the API server, and those of other accounts have not', async () => {
  const cluster = await openCluster();
  const uid = await cluster.kubectl(['get', 'flowschema', 'carrel', '-o', 'jsonpath={.metadata.uid}']);
  expect(uid).not.toBe('');
  const flows = new Map<string, unknown>();
  for (const process of ['controller', 'gateway', 'egress', 'archive']) {
    const token = await cluster.kubectl([
      '-n',
      RELEASE_NAMESPACE,
      'create',
      'token',
      `carrel-${process}`,
      '--duration=10m',
    ]);
    flows.set(process, await flowOf(cluster.kubeconfigPath, token.trim()));
  }
  expect([flows.get('controller'), flows.get('gateway')]).toEqual([uid, uid]);
  for (const process of ['egress', 'archive']) expect(flows.get(process), process).toMatch(/^[0-9a-f-]{36}$/);
  expect([flows.get('egress'), flows.get('archive')]).not.toContain(uid);
});
