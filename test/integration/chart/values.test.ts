import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {beforeAll, describe, expect, it} from 'vitest';
import {parse} from 'yaml';
import {openCluster} from '../../../hack/cluster/cluster.ts';
import {CommandFailed} from '../../../hack/cluster/command.ts';
import {isJson, type Json} from '../../../src/api/json.ts';
import {readArchiveConfig} from '../../../src/config/archive.ts';
import {readControllerConfig} from '../../../src/config/controller.ts';
import {readEgressConfig} from '../../../src/config/egress.ts';
import {readGatewayConfig} from '../../../src/config/gateway.ts';
import {items, member, text} from '../../../src/kube/typed.ts';
import {renderChart} from '../api/policies.ts';

const CHART = join(import.meta.dirname, '../../../charts/carrel');

/** Each process reads its environment, or says what is wrong with it. */
const READERS = {
  controller: readControllerConfig,
  gateway: readGatewayConfig,
  egress: readEgressConfig,
  archive: readArchiveConfig,
} as const;
type Process = keyof typeof READERS;
const PROCESSES: readonly Process[] = ['controller', 'gateway', 'egress', 'archive'];

let helm = '';
let defaults: Json[] = [];
beforeAll(async () => {
  helm = (await openCluster()).tools.helm;
  defaults = await renderChart(helm);
});

/** The environment that the chart gives to a process, with what the kubelet adds. */
function environmentOf(rendered: readonly Json[], process: Process): NodeJS.ProcessEnv {
  const workload = rendered.find(
    (object) =>
      ['Deployment', 'StatefulSet'].includes(text(object, 'kind')) &&
      text(member(object, 'metadata'), 'name') === `carrel-${process}`,
  );
  const [container] = items(member(member(member(workload, 'spec'), 'template'), 'spec'), 'containers');
  const given = items(container, 'env').map((variable) => [
    text(variable, 'name'),
    isJson(member(variable, 'valueFrom')['fieldRef']) ? 'from-the-pod' : text(variable, 'value'),
  ]);
  return {KUBERNETES_SERVICE_HOST: '10.96.0.1', ...Object.fromEntries(given)};
}

const set = (path: string, value: unknown) => ['--set-json', `${path}=${JSON.stringify(value)}`];

/** What helm says to these values; '' when it renders them. `helm lint` would only note what a template refuses. */
async function refusal(...options: string[]): Promise<string> {
  try {
    await renderChart(helm, ...options);
    return '';
  } catch (error) {
    if (error instanceof CommandFailed) return error.stderr;
    throw error;
  }
}

describe('what the chart takes, its processes take', () => {
  it.each([
    ['the defaults', []],
    ['the most talkative level', set('logLevel', 'debug')],
    ['the quietest level', set('logLevel', 'error')],
    ['uids below that of the runner', set('agents.uidRange', '1000-65531')],
    ['uids above that of the runner, to the last', set('agents.uidRange', '65533-2147483647')],
    ['one uid', set('agents.uidRange', '200000-200000')],
    [
      'private ranges and addresses, with and without a port',
      set('egress.allowPrivate', [
        '0.0.0.0/0:8443',
        '10.0.0.0/8',
        '10.0.0.0/8:65535',
        '10.1.2.3',
        '10.1.2.3:1',
        '255.255.255.254/31',
        '::/0',
        '::1',
        'fd00::/8',
        '[fd00::/8]:443',
        '[FE80::/10]:1',
        '2001:db8:8000::/33',
        '1:2:3:4:5:6:7:8',
        '1:2:3:4:5:6:7::/112',
      ]),
    ],
    [
      'ranges of the cluster',
      set('egress.clusterCidrs', ['0.0.0.0/0', '10.244.0.0/16', '172.30.0.4/30', 'fd00:10:244::/56']),
    ],
    ['no ranges', [...set('egress.clusterCidrs', []), ...set('egress.allowPrivate', [])]],
    [
      'lists of names',
      [...set('gateway.allowedHosts', [' a.example', 'b.example ']), ...set('gateway.audiences', ['x'])],
    ],
    ['the longest retention', set('archive.retention', '99999d')],
    ['no end of retention', set('archive.retention', 'forever')],
  ])('%s', async (_, options) => {
    const rendered = await renderChart(helm, ...options);
    for (const process of PROCESSES) {
      expect(() => READERS[process](environmentOf(rendered, process)), process).not.toThrow();
    }
  });
});

describe('what a process would refuse at its start, the chart refuses', () => {
  const range = 'egress.allowPrivate';
  const cluster = 'egress.clusterCidrs';
  const variable: Record<string, [Process, string]> = {
    logLevel: ['gateway', 'CARREL_LOG_LEVEL'],
    'agents.uidRange': ['controller', 'CARREL_AGENT_UID_RANGE'],
    [range]: ['egress', 'CARREL_EGRESS_ALLOW_PRIVATE'],
    [cluster]: ['egress', 'CARREL_CLUSTER_CIDRS'],
  };

  it.each([
    ['logLevel', 'trace', "at '/logLevel': value must be one of 'debug', 'info', 'warn', 'error'"],
    ['agents.uidRange', '9000-5000', 'agents.uidRange 9000-5000: the first number must not be larger than the last'],
    ['agents.uidRange', '200000-2147483648', 'the largest user id is 2147483647'],
    ['agents.uidRange', '1000-65532', '65532 is the user id of the runner'],
    ['agents.uidRange', '65532-70000', '65532 is the user id of the runner'],
    [range, 'foo', "at '/egress/allowPrivate/0'"],
    [range, 'abc', 'egress.allowPrivate: "abc" is not a range; write 10.0.0.0/8, 10.0.0.0/8:443 or [fd00::/8]:443'],
    [range, '10.0.0.1/8', 'no bit behind the prefix (10.0.0.0/8, not 10.0.0.1/8)'],
    [range, '10.0.0.0/33', 'is not a range'],
    [range, '10.0.0/8', 'is not a range'],
    [range, '256.0.0.0/8', 'is not a range'],
    [range, '010.0.0.0/8', 'is not a range'],
    [range, '10.0.0.0/8:0', 'is not a range'],
    [range, '10.0.0.0/8:65536', 'is not a range'],
    [range, '[fd00::/8]', "at '/egress/allowPrivate/0'"],
    [range, 'fd00::/8:443', 'is not a range'],
    [range, '::/8:443', 'is not a range'],
    [range, 'fd00::1/8', 'is not a range'],
    [range, 'fd40::/9', 'is not a range'],
    [range, 'fd00::/129', 'is not a range'],
    [range, '1::2::3', 'is not a range'],
    [range, ':1', 'is not a range'],
    [range, '1:2:3:4:5:6:7', 'is not a range'],
    [range, '1:2:3:4:5:6:7:8::', 'is not a range'],
    [range, '12345::', 'is not a range'],
    [cluster, '10.0.0.1/8', 'egress.clusterCidrs: "10.0.0.1/8" is not a range; write 10.244.0.0/16 or fd00::/64'],
    [cluster, '10.0.0.0/8:443', "at '/egress/clusterCidrs/0'"],
    [cluster, 'fd00::1/64', 'is not a range'],
  ])('%s: %s', async (path, value, says) => {
    const listed = path.startsWith('egress.') ? [value] : value;
    expect(await refusal(...set(path, listed))).toContain(says);
    const [process, name] = variable[path] ?? ['gateway', ''];
    const environment = {...environmentOf(defaults, process), [name]: value};
    expect(() => READERS[process](environment)).toThrow(name);
  });
});

describe('the image, which has no default', () => {
  const NEEDED =
    'image.reference is required: the image of Carrel by digest, such as --set image.reference=registry.example/carrel@sha256:<64 hex digits>. `npm run image -- <registry>/<repository>`, in a clone of the repository, builds and pushes it and prints the reference';
  const PATTERN = 'does not match pattern';

  it.each([
    ['none', 'image.reference=', NEEDED],
    ['none at all', 'image.reference=null', NEEDED],
    ['a blank', 'image.reference= ', PATTERN],
    ['a name', 'image.reference=carrel', PATTERN],
    ['a tag', 'image.reference=registry.example/carrel:1', PATTERN],
    ['a digest that is too short', 'image.reference=registry.example/carrel@sha256:abc', PATTERN],
    ['a digest alone', `image.reference=@sha256:${'a'.repeat(64)}`, PATTERN],
  ])('%s is refused', async (_, given, says) => {
    expect(await refusal('--set', given)).toContain(says);
  });
});

describe('defaults', () => {
  const schema: unknown = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'));
  const values: unknown = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'));

  it('there is one for every value of the schema, also for those inside another', () => {
    const missing = (known: Json, given: Json, path: string): string[] =>
      Object.entries(member(known, 'properties')).flatMap(([name, inner]) => {
        if (!(name in given)) return [`${path}${name}`];
        return isJson(inner) ? missing(inner, member(given, name), `${path}${name}.`) : [];
      });
    // `global` is Helm's own.
    expect(isJson(schema) && isJson(values) ? missing(schema, values, '') : ['unreadable']).toEqual(['global']);
  });

  it('every object of the schema is closed, so that a mistyped name is refused wherever it stands', () => {
    const open = (known: unknown, path: string): string[] => {
      if (!isJson(known)) return [];
      const own = 'properties' in known && known['additionalProperties'] !== false ? [path] : [];
      return [...own, ...Object.entries(known).flatMap(([name, inner]) => open(inner, `${path}/${name}`))];
    };
    expect(open(schema, '')).toEqual([]);
  });
});
