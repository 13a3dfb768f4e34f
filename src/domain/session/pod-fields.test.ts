import {describe, expect, it} from 'vitest';
import {pod} from '../../../test/support/session-objects.ts';
import type {Container, Pod} from '../../api/kube-pod.ts';
import {comparePod} from './pod-compare.ts';
import {
  CONTAINER_FIELDS,
  type FieldRule,
  MOUNT_FIELDS,
  POD_FIELDS,
  POD_SECURITY_FIELDS,
  SECURITY_FIELDS,
} from './pod-fields.ts';

const live = pod();
/** What no builder of ours would ask for. */
const foreign = (rule: FieldRule): unknown =>
  rule.compared === 'members' ? Object.fromEntries(rule.members.map((m) => [m, ['by a webhook']])) : ['by a webhook'];

const agent = (change: (container: Container) => object): Pod => ({
  ...live,
  spec: {...live.spec, containers: live.spec.containers.map((c) => ({...c, ...change(c)}))},
});

/** The pod with one foreign field at each place where such fields may stand. */
const PLACES: readonly [string, Readonly<Record<string, FieldRule>>, (field: string, value: unknown) => Pod][] = [
  ['spec', POD_FIELDS, (field, value) => ({...live, spec: {...live.spec, [field]: value}})],
  [
    'spec.securityContext',
    POD_SECURITY_FIELDS,
    (field, value) => ({
      ...live,
      spec: {...live.spec, securityContext: {...live.spec.securityContext, [field]: value}},
    }),
  ],
  ['spec.containers[agent]', CONTAINER_FIELDS, (field, value) => agent(() => ({[field]: value}))],
  [
    'spec.containers[agent].securityContext',
    SECURITY_FIELDS,
    (field, value) => agent((c) => ({securityContext: {...c.securityContext, [field]: value}})),
  ],
  [
    'spec.containers[agent].volumeMounts[/tmp]',
    MOUNT_FIELDS,
    (field, value) =>
      agent((c) => ({volumeMounts: c.volumeMounts?.map((m) => (m.mountPath === '/tmp' ? {...m, [field]: value} : m))})),
  ],
];

const CASES = PLACES.flatMap(([path, rules, change]) =>
  Object.entries(rules).flatMap(([field, rule]) =>
    // Lists of objects have rules of their own, and tests beside `comparePod`.
    rule.compared === 'apart' ? [] : [{path, field, rule, changed: change(field, foreign(rule))}],
  ),
);

describe('fields of a pod', () => {
  it.each(CASES.filter(({rule}) => rule.compared === 'whole' || rule.compared === 'members'))(
    '$path.$field makes it another pod',
    ({path, field, changed}) => {
      const differences = comparePod(live, changed).map((d) => d.field);
      expect(differences.length).toBeGreaterThan(0);
      // Of a mount that is elsewhere or another volume it is said that the list differs.
      const list = path.replace(/\[[^[]*\]$/, '');
      expect(differences.every((d) => d.startsWith(`${path}.${field}`) || d === list)).toBe(true);
    },
  );

  it.each(CASES.filter(({rule}) => rule.compared === 'no' || rule.compared === 'asked'))(
    '$path.$field does not, unless it is asked for',
    ({changed}) => {
      expect(comparePod(live, changed)).toEqual([]);
    },
  );

  it('that are not compared have a reason', () => {
    for (const {rule} of CASES) if (rule.compared === 'no') expect(rule.because).not.toBe('');
  });

  it('asked for and changed make it another pod', () => {
    const wanted = {...live, spec: {...live.spec, hostUsers: false}};
    expect(comparePod(wanted, {...live, spec: {...live.spec, hostUsers: true}}).map((d) => d.field)).toEqual([
      'spec.hostUsers',
    ]);
  });

  it.each([
    ['a host port', {ports: [{containerPort: 1, hostPort: 1}]}, 'ports'],
    ['a command at start', {lifecycle: {postStart: {exec: {command: ['x']}}}}, 'lifecycle'],
    ['a probe', {livenessProbe: {exec: {command: ['x']}}}, 'livenessProbe'],
    ['a whole Secret in the environment', {envFrom: [{secretRef: {name: 'x'}}]}, 'envFrom'],
    ['a device', {resources: {claims: [{name: 'gpu'}]}}, 'resources.claims'],
  ])('%s is seen', (_what, change, field) => {
    expect(
      comparePod(
        live,
        agent(() => change),
      ).map((d) => d.field),
    ).toEqual([`spec.containers[agent].${field}`]);
  });

  it.each([
    ['empty lists', agent(() => ({envFrom: [], volumeDevices: []}))],
    ['what the server fills in', agent((c) => ({securityContext: {...c.securityContext, procMount: 'Default'}}))],
    ['amounts', agent(() => ({resources: {limits: {memory: '2Gi'}}}))],
    ['the level of SELinux', agent((c) => ({securityContext: {...c.securityContext, seLinuxOptions: {level: 's0'}}}))],
  ])('%s are not', (_what, changed) => {
    expect(comparePod(live, changed)).toEqual([]);
  });

  it('another source of a volume is seen, also one that nobody knows', () => {
    const volumes = live.spec.volumes?.map((v) => (v.name === 'carrel-tmp' ? {...v, hostPath: {path: '/'}} : v));
    expect(comparePod(live, {...live, spec: {...live.spec, volumes}}).map((d) => d.field)).toEqual(['spec.volumes']);
  });
});
