import {randomBytes} from 'node:crypto';
import {type Cluster, openCluster} from '../../../hack/cluster/cluster.ts';
import {createCaches} from '../../../src/kube/cache.ts';
import {type ClientParts, createClient} from '../../../src/kube/client.ts';
import type {Connection} from '../../../src/kube/connection.ts';
import {fromKubeconfig} from '../../../src/kube/kubeconfig.ts';
import type {Client} from '../../../src/kube/ports.ts';
import type {ReflectorTimes} from '../../../src/kube/reflector.ts';
import {keptLog} from '../../support/log.ts';

/** A namespace of one test file, and a kind that only these tests use. */
export interface KubePlace {
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly connection: Connection;
  readonly client: Client;
  remove(): Promise<void>;
}

const CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {name: 'widgets.kube.test'},
  spec: {
    group: 'kube.test',
    scope: 'Namespaced',
    names: {kind: 'Widget', plural: 'widgets', singular: 'widget'},
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {status: {}},
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: {type: 'integer', maximum: 1000000},
                  owner: {type: 'string', maxLength: 40},
                  body: {type: 'string'},
                },
              },
              status: {type: 'object', 'x-kubernetes-preserve-unknown-fields': true},
            },
          },
        },
      },
    ],
  },
};

/** Make the namespace and the kind; wait until the kind is served. */
export async function makePlace(): Promise<KubePlace> {
  const cluster = await openCluster();
  const namespace = `kube-test-${randomBytes(3).toString('hex')}`;
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(CRD));
  await cluster.kubectl(['wait', '--for=condition=Established', 'crd/widgets.kube.test', '--timeout=30s']);
  await cluster.kubectl(['create', 'namespace', namespace]);
  const connection = fromKubeconfig(cluster.kubeconfigPath);
  return {
    cluster,
    namespace,
    connection,
    client: openClient(connection),
    async remove() {
      connection.close();
      await cluster.kubectl(['delete', 'namespace', namespace, '--wait=false']);
    },
  };
}

/** A client with a log of its own. */
export function openClient(connection: Connection, more: Partial<ClientParts> = {}): Client {
  return createClient({connection, fieldManager: 'kube-test', log: keptLog(), ...more});
}

/** Caches that count how often they listed, and why. */
export function openCaches(connection: Connection, times: Partial<ReflectorTimes> = {}) {
  const lists: string[] = [];
  const ends: string[] = [];
  const nothing = () => {};
  const caches = createCaches({
    connection,
    log: keptLog(),
    times,
    metrics: {
      request: nothing,
      cacheSize: nothing,
      queueDepth: nothing,
      reconcile: nothing,
      eventDropped: nothing,
      relist: (_resource, reason) => lists.push(reason),
      watchEnd: (_resource, reason) => ends.push(reason),
    },
  });
  return {caches, lists, ends};
}
