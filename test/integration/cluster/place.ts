import {randomBytes} from 'node:crypto';
import {type Cluster, openCluster} from '../../../hack/cluster/cluster.ts';
import {waitFor} from '../../../hack/cluster/wait.ts';

/** A namespace of its own in the running cluster, for one test file. */
export type Place = {
  cluster: Cluster;
  namespace: string;
  kubectl(args: readonly string[], stdin?: string): Promise<string>;
  apply(...objects: unknown[]): Promise<void>;
  waitReady(pod: string): Promise<void>;
  exec(pod: string, ...command: string[]): Promise<string>;
  remove(): Promise<void>;
};

/** Makes the namespace and waits until pods can be made in it. */
export async function makePlace(purpose: string): Promise<Place> {
  const cluster = await openCluster();
  const namespace = `cluster-${purpose}-${randomBytes(3).toString('hex')}`;
  await cluster.kubectl(['create', 'namespace', namespace]);
  const kubectl = (args: readonly string[], stdin?: string) => cluster.kubectl(['-n', namespace, ...args], stdin);
  await kubectl(['wait', '--for=create', 'serviceaccount/default', '--timeout=30s']);
  return {
    cluster,
    namespace,
    kubectl,
    apply: async (...objects) => {
      await kubectl(['apply', '-f', '-'], JSON.stringify({apiVersion: 'v1', kind: 'List', items: objects}));
    },
    waitReady: async (pod) => {
      await kubectl(['wait', '--for=condition=Ready', `pod/${pod}`, '--timeout=90s']);
    },
    exec: (pod, ...command) => kubectl(['exec', pod, '--', ...command]),
    remove: async () => {
      await cluster.kubectl(['delete', 'namespace', namespace, '--wait=false']);
    },
  };
}

/** The image with a shell that the cluster brings along. */
export function shellImage(cluster: Cluster): string {
  if (cluster.busyboxImage === undefined)
    throw new Error('this cluster brings no busybox image: these tests need the native provider');
  return cluster.busyboxImage;
}

/** A pod that runs one shell line on a chosen node. */
export function shellPod(
  place: Place,
  pod: {name: string; node?: string; line: string; more?: object; container?: object},
): unknown {
  const container = {
    name: 'main',
    image: shellImage(place.cluster),
    command: ['/bin/sh', '-c', pod.line],
    ...pod.container,
  };
  const node = pod.node === undefined ? {} : {nodeSelector: {'kubernetes.io/hostname': pod.node}};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: pod.name, labels: {app: pod.name}},
    spec: {containers: [container], terminationGracePeriodSeconds: 0, ...node, ...pod.more},
  };
}

/** A shell line that answers HTTP on port 8080 with the given text. */
export function answering(text: string): string {
  return `mkdir -p /www && echo ${text} >/www/index.html && exec httpd -f -p 8080 -h /www`;
}

/** Waits until a question is answered with yes. */
export function eventually(what: string, ask: () => Promise<boolean>, timeoutMs = 60_000): Promise<boolean> {
  return waitFor(what, {timeoutMs, everyMs: 500}, ask);
}

/** Whether this URL can be read from the pod within two seconds. (Debian's busybox crashes on `wget -T`.) */
export async function canFetch(place: Place, pod: string, url: string): Promise<boolean> {
  return place.exec(pod, 'timeout', '2', 'wget', '-q', '-O', '-', url).then(
    () => true,
    () => false,
  );
}
