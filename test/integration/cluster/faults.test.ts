import {readFile} from 'node:fs/promises';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {answering, canFetch, eventually, makePlace, type Place, shellPod} from './place.ts';

let place: Place;

beforeAll(async () => {
  place = await makePlace('faults');
});

afterAll(() => place.remove());

const tolerant = {tolerations: [{operator: 'Exists'}]};

async function ready(node: string): Promise<string> {
  return place.cluster.kubectl(['get', 'node', node, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}']);
}

test('a partitioned node is lost within half a minute, its processes go on, and it comes back when the cable is mended', async () => {
  await place.apply(
    shellPod(place, {
      name: 'far',
      node: 'n2',
      line: `(while true; do date +%s >>/beats; sleep 0.2; done) & ${answering('far')}`,
      more: tolerant,
    }),
    shellPod(place, {name: 'near', node: 'n1', line: 'sleep 3600'}),
  );
  for (const pod of ['far', 'near']) await place.waitReady(pod);
  const address = await place.kubectl(['get', 'pod', 'far', '-o', 'jsonpath={.status.podIP}']);
  const node = place.cluster.node('n2');
  await node.partition();
  const cut = Math.floor(Date.now() / 1000);
  try {
    expect(await canFetch(place, 'near', `http://${address}:8080`)).toBe(false);
    await eventually('the node to be lost', async () => (await ready('n2')) === 'Unknown', 30_000);
  } finally {
    await node.heal();
  }
  await eventually('the node to be back', async () => (await ready('n2')) === 'True');
  expect(await canFetch(place, 'near', `http://${address}:8080`)).toBe(true);
  const beats = (await place.exec('far', 'cat', '/beats')).trim().split('\n').map(Number);
  expect(
    beats.some((beat) => beat > cut + 2 && beat < cut + 10),
    'it worked while it was cut off',
  ).toBe(true);
});

test('a node whose plug was pulled starts again and runs its pods again', async () => {
  await place.apply(shellPod(place, {name: 'again', node: 'n2', line: 'sleep 3600', more: tolerant}));
  await place.waitReady('again');
  const node = place.cluster.node('n2');
  await node.kill();
  await node.start();
  const restarts = async () =>
    Number(await place.kubectl(['get', 'pod', 'again', '-o', 'jsonpath={.status.containerStatuses[0].restartCount}']));
  await eventually('the pod to run again', async () => (await restarts()) > 0);
  await place.waitReady('again');
});

test('the API server comes back after it was killed, with everything it knew', async () => {
  await place.kubectl(['create', 'configmap', 'kept']);
  await place.cluster.apiserver.kill();
  await expect(place.kubectl(['--request-timeout=2s', 'get', 'configmap', 'kept'])).rejects.toThrow();
  await place.cluster.apiserver.start();
  expect(await place.kubectl(['get', 'configmap', 'kept', '-o', 'name'])).toBe('configmap/kept\n');
});

test('a version from before a compaction is gone', async () => {
  const path = `/api/v1/namespaces/${place.namespace}/configmaps`;
  const version = await place.kubectl([
    'get',
    'configmap',
    'kube-root-ca.crt',
    '-o',
    'jsonpath={.metadata.resourceVersion}',
  ]);
  const atVersion = () =>
    place.cluster.kubectl(['get', '--raw', `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`]);
  await atVersion();
  await place.kubectl(['create', 'configmap', 'more']);
  await place.cluster.compact();
  await expect(atVersion()).rejects.toThrow('too old');
});

test('every request is in the audit log', async () => {
  const mark = `seen-${place.namespace}`;
  await place.kubectl(['create', 'configmap', mark]);
  const path = place.cluster.auditLogPath ?? '';
  await eventually('the event', async () => (await readFile(path, 'utf8')).includes(mark), 10_000);
  const line = (await readFile(path, 'utf8')).split('\n').find((one) => one.includes(mark));
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    verb: 'create',
    objectRef: {resource: 'configmaps', name: mark},
    responseStatus: {code: 201},
  });
});
