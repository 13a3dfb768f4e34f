import {afterAll, beforeAll, expect, test} from 'vitest';
import {makePlace, type Place, shellImage, shellPod} from './place.ts';

let place: Place;

beforeAll(async () => {
  place = await makePlace('storage');
});

afterAll(() => place.remove());

const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {name: 'work'},
  spec: {accessModes: ['ReadWriteOncePod'], resources: {requests: {storage: '10Mi'}}},
};

test('a volume of the default class outlives its pod, and belongs to the group of the pod', async () => {
  const more = {
    securityContext: {runAsUser: 65534, runAsGroup: 65534, fsGroup: 65534},
    volumes: [{name: 'work', persistentVolumeClaim: {claimName: 'work'}}],
  };
  const container = {volumeMounts: [{name: 'work', mountPath: '/work'}]};
  await place.apply(
    claim,
    shellPod(place, {name: 'writer', line: 'echo kept >/work/note && sleep 3600', more, container}),
  );
  await place.waitReady('writer');
  expect(await place.exec('writer', 'cat', '/work/note')).toBe('kept\n');
  await place.kubectl(['delete', 'pod', 'writer']);
  await place.apply(shellPod(place, {name: 'reader', line: 'sleep 3600', more, container}));
  await place.waitReady('reader');
  expect(await place.exec('reader', 'cat', '/work/note')).toBe('kept\n');
});

test('an image is mounted as a volume, read-only', async () => {
  const more = {volumes: [{name: 'tools', image: {reference: shellImage(place.cluster)}}]};
  const container = {volumeMounts: [{name: 'tools', mountPath: '/tools'}]};
  await place.apply(shellPod(place, {name: 'mounted', line: 'sleep 3600', more, container}));
  await place.waitReady('mounted');
  expect(await place.exec('mounted', '/tools/bin/busybox', 'echo', 'runs')).toBe('runs\n');
  await expect(place.exec('mounted', 'touch', '/tools/new')).rejects.toThrow('Read-only file system');
});

test('an image is pulled by digest, and the node names the digest it runs', async () => {
  const image = shellImage(place.cluster);
  expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
  await place.apply(shellPod(place, {name: 'digest', line: 'sleep 3600'}));
  await place.waitReady('digest');
  expect(await place.kubectl(['get', 'pod', 'digest', '-o', 'jsonpath={.status.containerStatuses[0].imageID}'])).toBe(
    image,
  );
});
