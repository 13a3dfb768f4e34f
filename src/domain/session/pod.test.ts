import {describe, expect, it} from 'vitest';
import {stringify} from 'yaml';
import {DIGEST, revisionFixture, SESSION} from '../../../test/support/agent-fixture.ts';
import type {Pod} from '../../api/kube-pod.ts';
import {buildPod, type PodInput} from './pod.ts';
import {comparePod, imageVolumesDropped} from './pod-compare.ts';

const model = {
  name: 'm-1',
  dialect: 'AnthropicMessages' as const,
  baseUrl: 'https://model.example',
  proxy: 'Loopback' as const,
  key: {secret: 'provider', key: 'token'},
  caBundle: {configMap: 'ca', key: 'ca.crt'},
};
const workspace = {size: '1Gi', image: `registry.example/workspace@${DIGEST}`};

function input(change: Partial<PodInput> = {}): PodInput {
  return {
    session: SESSION,
    attempt: 1,
    revision: revisionFixture({
      model,
      workspace,
      env: [
        {name: 'A', value: 'b'},
        {name: 'S', secret: {name: 's', key: 'k'}},
      ],
    }),
    claimName: 'carrel-first-aaaaaaaa',
    seed: true,
    runtimeImage: `registry.example/carrel@${DIGEST}`,
    delivery: 'ImageVolume',
    addresses: {gateway: '10.0.0.1', egress: '10.0.0.2'},
    ...change,
  };
}

/** The pod as a server returns it. */
function live(change: (pod: Pod) => Pod = (p) => p): Pod {
  const built = buildPod(input());
  return change({
    ...built,
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {...built.metadata, uid: 'p', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z'},
  });
}

describe('the session pod', () => {
  it.each([
    ['image-volume', input()],
    ['init-container', input({delivery: 'InitContainer'})],
    ['no-model-no-seed', input({seed: false, revision: revisionFixture()})],
  ])('is the golden one: %s', async (name, given) => {
    await expect(stringify(buildPod(given), {lineWidth: 0, aliasDuplicateObjects: false})).toMatchFileSnapshot(
      `../../../test/golden/pods/${name}.yaml`,
    );
  });

  it('gives the agent no token, no key, no certificate and no state of the runner', () => {
    const pod = buildPod(input());
    const agent = pod.spec.containers.find((c) => c.name === 'agent');
    expect(agent?.volumeMounts?.map((m) => m.name).sort()).toEqual([
      'carrel-data',
      'carrel-data',
      'carrel-runtime',
      'carrel-socket',
      'carrel-tmp',
    ]);
    expect(JSON.stringify(agent)).not.toContain('provider');
    expect(pod.spec.automountServiceAccountToken).toBe(false);
  });

  it('mounts neither workspace nor home into the runner', () => {
    const runner = buildPod(input()).spec.initContainers?.find((c) => c.name === 'runner');
    expect(runner?.volumeMounts?.map((m) => m.name)).not.toContain('carrel-data');
  });

  it('blanks the variables through which an image could reach our binaries', () => {
    const pod = buildPod(input());
    for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
      expect(container.env?.slice(0, 3)).toEqual([
        {name: 'NODE_OPTIONS', value: ''},
        {name: 'LD_PRELOAD', value: ''},
        {name: 'LD_LIBRARY_PATH', value: ''},
      ]);
    }
  });
});

describe('comparing a live pod with the one that was asked for', () => {
  const expected = buildPod(input());
  const withAgent = (pod: Pod, change: object): Pod => ({
    ...pod,
    spec: {...pod.spec, containers: pod.spec.containers.map((c) => ({...c, ...change}))},
  });

  it.each<[string, (pod: Pod) => Pod, string[]]>([
    ['as asked', (p) => p, []],
    [
      'labels, tolerations and priority changed',
      (p) => ({
        ...p,
        metadata: {...p.metadata, labels: {}},
        spec: {...p.spec, tolerations: [], priorityClassName: 'x'},
      }),
      [],
    ],
    ['another owner', (p) => ({...p, metadata: {...p.metadata, ownerReferences: []}}), ['metadata.ownerReferences']],
    ['another image', (p) => withAgent(p, {image: 'x'}), ['spec.containers[agent].image']],
    [
      'a container added',
      (p) => ({...p, spec: {...p.spec, containers: [...p.spec.containers, {name: 'x', image: 'y'}]}}),
      ['spec.containers[].name'],
    ],
    [
      'a volume added',
      (p) => ({...p, spec: {...p.spec, volumes: [...(p.spec.volumes ?? []), {name: 'x', emptyDir: {}}]}}),
      ['spec.volumes'],
    ],
    ['an environment variable added', (p) => withAgent(p, {env: []}), ['spec.containers[agent].env']],
    ['host network', (p) => ({...p, spec: {...p.spec, hostNetwork: true}}), ['spec.hostNetwork']],
    [
      'an ephemeral container',
      (p) => ({...p, spec: {...p.spec, ephemeralContainers: [{name: 'd', image: 'i'}]}}),
      ['spec.ephemeralContainers'],
    ],
  ])('%s', (_state, change, fields) => {
    expect(comparePod(expected, live(change)).map((d) => d.field)).toEqual(fields);
  });

  it('sees that a server without the feature dropped the image volumes', () => {
    const dropped = live((p) => ({
      ...p,
      spec: {...p.spec, volumes: (p.spec.volumes ?? []).map((v) => (v.image ? {name: v.name} : v))},
    }));
    expect(imageVolumesDropped(expected, dropped)).toBe(true);
    expect(imageVolumesDropped(expected, live())).toBe(false);
  });
});
