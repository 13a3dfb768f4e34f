import type {Manifest} from '../../api/kube-object.ts';
import type {Container, EnvVar, Pod, Volume, VolumeMount} from '../../api/kube-pod.ts';
import {canonicalJson} from '../canonical.ts';
import {
  CONTAINER_FIELDS,
  type FieldRule,
  MOUNT_FIELDS,
  POD_FIELDS,
  POD_SECURITY_FIELDS,
  SECURITY_FIELDS,
} from './pod-fields.ts';

/** One field of a live pod that is not what was asked for. */
export interface PodDifference {
  field: string;
  expected: string;
  actual: string;
}

/**
 * What makes a live pod another pod than the one we asked for: its owner, and every field that `pod-fields.ts` says to compare.
 */
export function comparePod(expected: Manifest<Pod>, live: Pod): PodDifference[] {
  const owners = differs('metadata.ownerReferences', ownerUids(expected), ownerUids(live));
  const [want, have] = [expected.spec, live.spec];
  return [
    ...owners,
    ...compareFields('spec', POD_FIELDS, {want, have}),
    ...compareFields('spec.securityContext', POD_SECURITY_FIELDS, {
      want: want.securityContext,
      have: have.securityContext,
    }),
    ...(['initContainers', 'containers'] as const).flatMap((list) =>
      compareContainers(`spec.${list}`, want[list] ?? [], have[list] ?? []),
    ),
    ...differs('spec.volumes', (want.volumes ?? []).map(volumeIdentity), (have.volumes ?? []).map(volumeIdentity)),
  ];
}

function compareContainers(path: string, expected: readonly Container[], live: readonly Container[]): PodDifference[] {
  const each = expected.flatMap((want) => {
    const have = live.find((c) => c.name === want.name);
    if (have === undefined) return [];
    const at = `${path}[${want.name}]`;
    return [
      ...compareFields(at, CONTAINER_FIELDS, {want, have}),
      ...compareFields(`${at}.securityContext`, SECURITY_FIELDS, {
        want: want.securityContext,
        have: have.securityContext,
      }),
      ...differs(`${at}.env`, (want.env ?? []).map(envIdentity), (have.env ?? []).map(envIdentity)),
      ...compareMounts(at, want.volumeMounts ?? [], have.volumeMounts ?? []),
    ];
  });
  return [...differs(`${path}[].name`, names(expected), names(live)), ...each];
}

function compareMounts(at: string, expected: readonly VolumeMount[], live: readonly VolumeMount[]): PodDifference[] {
  const paths = (mounts: readonly VolumeMount[]) => mounts.map((m) => [m.name, m.mountPath]);
  const list = differs(`${at}.volumeMounts`, paths(expected), paths(live));
  if (list.length > 0) return list;
  return expected.flatMap((want, n) =>
    compareFields(`${at}.volumeMounts[${want.mountPath}]`, MOUNT_FIELDS, {want, have: live[n]}),
  );
}

function compareFields(
  path: string,
  rules: Readonly<Record<string, FieldRule>>,
  {want, have}: {want: object | undefined; have: object | undefined},
): PodDifference[] {
  return Object.entries(rules).flatMap(([field, rule]) =>
    compareField(`${path}.${field}`, rule, [member(want, field), member(have, field)]),
  );
}

function compareField(path: string, rule: FieldRule, [want, have]: [unknown, unknown]): PodDifference[] {
  switch (rule.compared) {
    case 'no':
    case 'apart':
      return [];
    case 'asked':
      return want === undefined ? [] : differs(path, want, have);
    case 'members':
      return rule.members.flatMap((name) => differs(`${path}.${name}`, member(want, name), member(have, name)));
    case 'whole':
      return differs(path, plain(want, rule.like), plain(have, rule.like));
  }
}

/** A value, or null for what means that it is not set. */
function plain(value: unknown, like: readonly unknown[]): unknown {
  const text = canonicalJson(value ?? null);
  return text === '[]' || like.some((l) => canonicalJson(l) === text) ? null : value;
}

function member(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null ? Reflect.get(of, name) : undefined;
}

function differs(field: string, want: unknown, have: unknown): PodDifference[] {
  const [expected, actual] = [canonicalJson(want ?? null), canonicalJson(have ?? null)];
  return expected === actual ? [] : [{field, expected: short(expected), actual: short(actual)}];
}

/** The server leaves empty values out of its reply. */
function envIdentity({name, value, valueFrom}: EnvVar): unknown[] {
  return [name, value ?? '', valueFrom ?? null];
}

function ownerUids(pod: {metadata: {ownerReferences?: Pod['metadata']['ownerReferences']}}): string[] {
  return (pod.metadata.ownerReferences ?? []).map((o) => o.uid);
}

function names(list: readonly {name: string}[]): string[] {
  return list.map((c) => c.name);
}

/** What a volume is, without the defaults that the server fills in. Of sources that are never asked for, the name is enough. */
function volumeIdentity(volume: Volume): unknown[] {
  return [
    volume.name,
    Object.keys(volume).sort(),
    volume.image?.reference ?? null,
    volume.emptyDir === undefined ? null : [volume.emptyDir.medium ?? '', volume.emptyDir.sizeLimit ?? ''],
    volume.persistentVolumeClaim?.claimName ?? null,
    volume.persistentVolumeClaim?.readOnly ?? false,
    volume.secret === undefined ? null : [volume.secret.secretName, volume.secret.items ?? []],
    volume.configMap === undefined ? null : [volume.configMap.name, volume.configMap.items ?? []],
    (volume.projected?.sources ?? []).map((s) => [
      Object.keys(s).sort(),
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
