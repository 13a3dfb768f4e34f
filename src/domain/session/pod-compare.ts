import type {Manifest} from '../../api/kube-object.ts';
import type {Container, Pod, PodSpec, Volume} from '../../api/kube-pod.ts';
import {canonicalJson} from '../canonical.ts';

/** One field of a live pod that is not what was asked for. */
export interface PodDifference {
  field: string;
  expected: string;
  actual: string;
}

/**
 * What makes a live pod another pod than the one we asked for: owner, identity, containers with their images, commands,
 * environment, mounts and rights, volumes, and everything of the host. Not compared, because schedulers, admission and
 * people may set them: metadata beside the owner, tolerations, priority, node, resources.
 */
export function comparePod(expected: Manifest<Pod>, live: Pod): PodDifference[] {
  const differences: PodDifference[] = [];
  const check = (field: string, want: unknown, have: unknown) => {
    const [a, b] = [canonicalJson(want ?? null), canonicalJson(have ?? null)];
    if (a !== b) differences.push({field, expected: short(a), actual: short(b)});
  };
  check('metadata.ownerReferences', ownerUids(expected), ownerUids(live));
  for (const [field, pick] of SPEC_FIELDS) check(`spec.${field}`, pick(expected.spec), pick(live.spec));
  for (const list of ['initContainers', 'containers'] as const) {
    const [want, have] = [expected.spec[list] ?? [], live.spec[list] ?? []];
    check(`spec.${list}[].name`, names(want), names(have));
    for (const container of want) {
      const other = have.find((c) => c.name === container.name);
      if (other === undefined) continue;
      for (const [field, pick] of CONTAINER_FIELDS)
        check(`spec.${list}[${container.name}].${field}`, pick(container), pick(other));
    }
  }
  check(
    'spec.volumes',
    (expected.spec.volumes ?? []).map(volumeIdentity),
    (live.spec.volumes ?? []).map(volumeIdentity),
  );
  return differences;
}

const SPEC_FIELDS: readonly (readonly [string, (spec: PodSpec) => unknown])[] = [
  ['serviceAccountName', (s) => s.serviceAccountName],
  ['automountServiceAccountToken', (s) => s.automountServiceAccountToken],
  ['restartPolicy', (s) => s.restartPolicy],
  ['dnsPolicy', (s) => s.dnsPolicy],
  ['dnsConfig.nameservers', (s) => s.dnsConfig?.nameservers],
  ['hostNetwork', (s) => s.hostNetwork ?? false],
  ['hostPID', (s) => s.hostPID ?? false],
  ['hostIPC', (s) => s.hostIPC ?? false],
  ['shareProcessNamespace', (s) => s.shareProcessNamespace ?? false],
  ['runtimeClassName', (s) => s.runtimeClassName],
  ['securityContext.fsGroup', (s) => s.securityContext?.fsGroup],
  ['securityContext.seccompProfile', (s) => s.securityContext?.seccompProfile],
  ['ephemeralContainers', (s) => (s.ephemeralContainers ?? []).map((c) => c.name)],
];

const CONTAINER_FIELDS: readonly (readonly [string, (container: Container) => unknown])[] = [
  ['image', (c) => c.image],
  ['command', (c) => c.command],
  ['args', (c) => c.args ?? []],
  ['restartPolicy', (c) => c.restartPolicy],
  // The server leaves empty values out of its reply.
  ['env', (c) => (c.env ?? []).map((e) => [e.name, e.value ?? '', e.valueFrom ?? null])],
  ['securityContext', (c) => c.securityContext],
  [
    'volumeMounts',
    (c) => (c.volumeMounts ?? []).map((m) => [m.name, m.mountPath, m.subPath ?? '', m.readOnly ?? false]),
  ],
];

function ownerUids(pod: {metadata: {ownerReferences?: Pod['metadata']['ownerReferences']}}): string[] {
  return (pod.metadata.ownerReferences ?? []).map((o) => o.uid);
}

function names(list: readonly {name: string}[]): string[] {
  return list.map((c) => c.name);
}

/** What a volume is, without the defaults that the server fills in. */
function volumeIdentity(volume: Volume): unknown[] {
  return [
    volume.name,
    volume.image?.reference ?? null,
    volume.emptyDir === undefined ? null : [volume.emptyDir.medium ?? '', volume.emptyDir.sizeLimit ?? ''],
    volume.persistentVolumeClaim?.claimName ?? null,
    volume.secret === undefined ? null : [volume.secret.secretName, volume.secret.items ?? []],
    volume.configMap === undefined ? null : [volume.configMap.name, volume.configMap.items ?? []],
    (volume.projected?.sources ?? []).map((s) => [
      s.serviceAccountToken?.audience ?? null,
      s.serviceAccountToken?.path ?? null,
    ]),
  ];
}

/** Long values are cut: the text ends up in a condition. Environment values never hold a secret (those are references). */
function short(text: string): string {
  return text.length <= 160 ? text : `${text.slice(0, 157)}...`;
}

/** True when the server dropped the image volumes that were asked for: a cluster without the feature. */
export function imageVolumesDropped(asked: Manifest<Pod>, reply: Pod): boolean {
  const count = (volumes: readonly Volume[] | undefined) => (volumes ?? []).filter((v) => v.image !== undefined).length;
  return count(reply.spec.volumes) < count(asked.spec.volumes);
}
