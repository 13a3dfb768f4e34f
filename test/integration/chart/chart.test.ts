import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {beforeAll, describe, expect, it} from 'vitest';
import {type Cluster, openCluster} from '../../../hack/cluster/cluster.ts';
import {CommandFailed, run} from '../../../hack/cluster/command.ts';
import {isJson, type Json} from '../../../src/api/json.ts';
import {items, member, text} from '../../../src/kube/typed.ts';
import {IMAGE} from '../api/examples.ts';
import {renderChart} from '../api/policies.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CHART = join(ROOT, 'charts/carrel');
const PROCESSES = ['controller', 'gateway', 'egress', 'archive'] as const;

let cluster: Cluster;
let rendered: Json[] = [];
beforeAll(async () => {
  cluster = await openCluster();
  rendered = await renderChart(cluster.tools.helm);
});

const kindOf = (object: Json) => text(object, 'kind');
const nameOf = (object: Json) => text(member(object, 'metadata'), 'name');
const podOf = (process: string) =>
  member(
    member(
      member(
        rendered.find((o) => ['Deployment', 'StatefulSet'].includes(kindOf(o)) && nameOf(o) === `carrel-${process}`),
        'spec',
      ),
      'template',
    ),
    'spec',
  );
const containerOf = (process: string): unknown => items(podOf(process), 'containers')[0];

/** What helm says to these values; '' when it takes them. */
async function helmSays(...sets: string[]): Promise<string> {
  try {
    await run(cluster.tools.helm, ['lint', CHART, '--strict', ...sets.flatMap((set) => ['--set', set])]);
    return '';
  } catch (error) {
    if (error instanceof CommandFailed) return `${error.stdout}${error.stderr}`;
    throw error;
  }
}

describe('values', () => {
  it('helm lint is clean', async () => {
    expect(await helmSays(`image.reference=${IMAGE}`)).toBe('');
  });

  it.each([
    ['an image by tag', ['image.reference=carrel:1'], "at '/image/reference': 'carrel:1' does not match pattern"],
    [
      'a name that does not exist',
      [`image.reference=${IMAGE}`, 'gatewya.replicas=2'],
      "additional properties 'gatewya' not allowed",
    ],
    [
      'a nested name that does not exist',
      [`image.reference=${IMAGE}`, 'archive.replicas=2'],
      "additional properties 'replicas' not allowed",
    ],
    ['no replicas', [`image.reference=${IMAGE}`, 'gateway.replicas=0'], "at '/gateway/replicas': minimum"],
    [
      'an unknown delivery',
      [`image.reference=${IMAGE}`, 'runtime.delivery=Magic'],
      "at '/runtime/delivery': value must be one of 'Auto', 'ImageVolume', 'InitContainer'",
    ],
    [
      'a range that is none',
      [`image.reference=${IMAGE}`, 'egress.clusterCidrs={10.0.0.0}'],
      "at '/egress/clusterCidrs/0'",
    ],
    ['a retention that is none', [`image.reference=${IMAGE}`, 'archive.retention=30m'], "at '/archive/retention'"],
  ])('refuse %s and name the value', async (_, sets, says) => {
    expect(await helmSays(...sets)).toContain(says);
  });
});

describe('pods', () => {
  it.each(PROCESSES)('%s runs the one image by digest, restricted, with limits', (process) => {
    expect(containerOf(process)).toMatchObject({
      image: IMAGE,
      command: ['/carrel/bin/node', `/carrel/app/${process}.js`],
      securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: ['ALL']}},
      resources: {
        requests: {cpu: expect.any(String), memory: expect.any(String)},
        limits: {memory: expect.any(String)},
      },
      readinessProbe: {httpGet: {path: '/readyz', port: 'health'}},
      livenessProbe: {httpGet: {path: '/healthz', port: 'health'}},
    });
    expect(podOf(process)).toMatchObject({
      securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: 'RuntimeDefault'}},
    });
  });

  it.each(PROCESSES)('Z-001 %s is one container, with nothing beside it and nothing before it', (process) => {
    expect(items(podOf(process), 'containers')).toHaveLength(1);
    expect(items(podOf(process), 'initContainers')).toEqual([]);
  });

  it.each(PROCESSES)('%s gets no setting that it does not know', (process) => {
    const config =
      readFileSync(join(ROOT, `src/config/${process}.ts`), 'utf8') +
      readFileSync(join(ROOT, 'src/config/environment.ts'), 'utf8');
    const given = items(containerOf(process), 'env').map((variable) => text(variable, 'name'));
    // The pod's own name is told to every process; only the controller uses it.
    expect(
      given.filter(
        (name) => name !== 'CARREL_POD_NAME' && name !== 'CARREL_RELEASE_NAMESPACE' && !config.includes(name),
      ),
    ).toEqual([]);
  });

  it('only controller and gateway hold a token for the archive', () => {
    const holders = PROCESSES.filter((process) =>
      JSON.stringify(podOf(process)).includes('"audience":"carrel-archive"'),
    );
    expect(holders).toEqual(['controller', 'gateway']);
  });
});

describe('rights', () => {
  const rules = (process: string) =>
    rendered
      .filter((object) => ['ClusterRole', 'Role'].includes(kindOf(object)) && nameOf(object) === `carrel-${process}`)
      .flatMap((object) => items(object, 'rules'))
      .filter(isJson);
  const may = (process: string, verb: string, resource: string) =>
    rules(process).some((rule) => items(rule, 'verbs').includes(verb) && items(rule, 'resources').includes(resource));

  it.each(PROCESSES)('%s has no wildcard, no Secret, no exec, no token, no role', (process) => {
    const all = JSON.stringify(rules(process));
    for (const word of [
      '"*"',
      'secrets',
      'exec',
      'attach',
      'portforward',
      'serviceaccounts/token',
      'roles',
      'impersonate',
      'escalate',
    ]) {
      expect(all, word).not.toContain(word);
    }
  });

  it.each([
    ['gateway', 'create', 'pods'],
    ['gateway', 'get', 'pods'],
    ['gateway', 'delete', 'sessions'],
    ['gateway', 'patch', 'agents'],
    ['gateway', 'patch', 'turns'],
    ['gateway', 'patch', 'questions'],
    ['gateway', 'get', 'agents'],
    ['gateway', 'get', 'controllerrevisions'],
    ['controller', 'patch', 'sessions'],
    ['controller', 'patch', 'agents'],
    ['controller', 'create', 'sessions'],
    ['controller', 'patch', 'pods'],
    ['controller', 'get', 'questions'],
    ['controller', 'get', 'networkpolicies'],
    ['controller', 'get', 'services'],
    ['egress', 'patch', 'sessions'],
    ['egress', 'get', 'controllerrevisions'],
    ['egress', 'get', 'nodes'],
    ['egress', 'get', 'servicecidrs'],
    ['archive', 'list', 'sessions'],
    ['archive', 'patch', 'sessions'],
  ])('%s may not %s %s', (process, verb, resource) => {
    expect(may(process, verb, resource)).toBe(false);
  });
});

describe('the whole', () => {
  it('names nothing after the release, so that processes find each other', async () => {
    const other = await run(cluster.tools.helm, [
      'template',
      'other',
      CHART,
      '-n',
      'carrel-system',
      '--set',
      `image.reference=${IMAGE}`,
    ]);
    const names = (yaml: string) => [...yaml.matchAll(/^ {2}name: (\S+)$/gm)].map((match) => match[1]);
    const own = await run(cluster.tools.helm, [
      'template',
      'carrel',
      CHART,
      '-n',
      'carrel-system',
      '--set',
      `image.reference=${IMAGE}`,
    ]);
    expect(names(other)).toEqual(names(own));
  });

  it('a release that has no archive.retention of its own yet, by --reuse-values, leaves it to the archive', async () => {
    const retention = 'CARREL_ARCHIVE_RETENTION';
    expect(JSON.stringify(rendered)).toContain(retention);
    const older = await renderChart(cluster.tools.helm, '--set', 'archive.retention=null');
    expect(JSON.stringify(older)).not.toContain(retention);
  });

  it('CRDs are kept on uninstall, or left out, as asked', async () => {
    const crds = (objects: Json[]) => objects.filter((object) => kindOf(object) === 'CustomResourceDefinition');
    expect(crds(rendered).length).toBe(4);
    expect(
      crds(rendered).every(
        (crd) => text(member(member(crd, 'metadata'), 'annotations'), 'helm.sh/resource-policy') === 'keep',
      ),
    ).toBe(true);
    expect(crds(await renderChart(cluster.tools.helm, '--set', 'crds.install=false'))).toEqual([]);
    expect(JSON.stringify(crds(await renderChart(cluster.tools.helm, '--set', 'crds.keep=false')))).not.toContain(
      'resource-policy',
    );
  });

  it('without MutatingAdmissionPolicy v1 nothing is stamped, and the validating policies stay', async () => {
    const yaml = await run(cluster.tools.helm, [
      'template',
      'carrel',
      CHART,
      '--kube-version',
      '1.33.0',
      '--set',
      `image.reference=${IMAGE}`,
    ]);
    expect(yaml).not.toContain('kind: MutatingAdmissionPolicy');
    expect(yaml).toContain('kind: ValidatingAdmissionPolicy\n');
    // Nor is anybody told that it will be.
    expect(yaml).not.toContain('it is filled in');
  });

  it('the API server takes every object in a namespace of restricted Pod Security, without a warning', async () => {
    const namespace = 'carrel-chart-dry-run';
    const labels = Object.fromEntries(
      ['enforce', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
    );
    await cluster.kubectl(
      ['apply', '-f', '-'],
      JSON.stringify({apiVersion: 'v1', kind: 'Namespace', metadata: {name: namespace, labels}}),
    );
    try {
      const here: unknown = JSON.parse(JSON.stringify(rendered).replaceAll('"carrel-system"', `"${namespace}"`));
      const list = JSON.stringify({apiVersion: 'v1', kind: 'List', items: here});
      const dry = [
        'apply',
        '--server-side',
        '--force-conflicts',
        '--dry-run=server',
        '--warnings-as-errors',
        '-f',
        '-',
      ];
      expect((await cluster.kubectl(dry, list)).trim().split('\n').length).toBe(rendered.length);
    } finally {
      await cluster.kubectl(['delete', 'namespace', namespace, '--wait=false']);
    }
  });

  it('the notes give three commands to the first session', async () => {
    const said = await run(cluster.tools.helm, [
      'install',
      'carrel',
      CHART,
      '--dry-run=client',
      '--set',
      `image.reference=${IMAGE}`,
    ]);
    const notes = said.slice(said.indexOf('NOTES:'));
    expect(notes.match(/^kubectl /gm)?.length).toBe(3);
    // They are to be pasted as they are: nothing is written in the escapes of JSON or HTML.
    expect(notes).toContain('command: ["<program>","<argument>"]\n');
    expect(notes).not.toMatch(/\\u[0-9a-f]{4}|&(lt|gt|amp|quot|#[0-9]+);/i);
  });
});
