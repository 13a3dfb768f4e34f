import {mkdtemp, rm, stat} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {z} from 'zod';
import {run} from '../cluster/command.ts';
import {type Environment, prepare, RELEASE_NAMESPACE, TEST_VALUES} from '../environment.ts';
import {forwardGateway, gatewayToken} from '../gateway.ts';
import {step} from '../progress.ts';
import {countWrites, type Writes} from './audit.ts';
import {measureGateway} from './gateway.ts';
import {measureStarts} from './latency.ts';
import {peakMemory} from './memory.ts';
import {BenchPlace} from './place.ts';

/** What is read of an image's manifest. */
const Manifest = z.object({layers: z.array(z.object({size: z.number()}))});

/** `npm run bench`: counts and ratios of one run, each as `name: value (budget)`. */
const environment = await prepare(TEST_VALUES);
const place = new BenchPlace(environment);
await place.open();
try {
  await writesOfOneSession();
  await starts();
  await memory();
  await gatewayRates();
  await sizes();
} finally {
  await place.close();
}

/** Prints one figure. */
function figure(name: string, value: number | string, budget: string): void {
  process.stdout.write(`${name}: ${value} (${budget})\n`);
}

/** API writes and reconciles of one session with two turns, from create until it is gone. */
async function writesOfOneSession(): Promise<void> {
  const log = environment.cluster.auditLogPath;
  if (log === undefined) return figure('writes per session', 'not measured', 'needs the audit log of the API server');
  const users = ['controller', 'gateway'].map((p) => `system:serviceaccount:${RELEASE_NAMESPACE}:carrel-${p}`);
  const reconciles = async () => sumMetric(await controllerMetrics(environment), 'carrel_reconciles_total');
  const [from, atStart] = [Date.now(), await reconciles()];
  await step('one session, two turns', async () => {
    await place.create('Session', 'count', {agent: 'bench', prompt: 'say one'});
    await place.firstTurnDone('count');
    // The write that says so belongs to the first turn.
    await place.wait('sessions.carrel.dev/count', '{.status.phase}', 'Idle');
  });
  const [turn, atTurn] = [Date.now(), await reconciles()];
  await place.create('Turn', 'count-2', {session: 'count', input: [{text: 'say two'}]});
  await place.wait('turns.carrel.dev/count-2', '{.status.phase}', 'Completed');
  await place.wait('sessions.carrel.dev/count', '{.status.phase}', 'Idle');
  const [deletion, atDeletion] = [Date.now(), await reconciles()];
  await place.kubectl(['delete', 'sessions.carrel.dev/count', '--wait=true', '--timeout=60s']);
  await place.kubectl(['wait', 'pods', '--all', '--for=delete', '--timeout=60s']);
  const end = Date.now();
  const {namespace} = place;
  const counted = (span: {from: number; to: number}) => countWrites(log, users, {...span, namespace});
  const whole = add(await counted({from, to: turn}), await counted({from: deletion, to: end}));
  writes('session, create to gone', whole, 'at most 12 with at most 3 Events');
  writes('further turn, made with kubectl', await counted({from: turn, to: deletion}), 'at most 4');
  figure(
    'reconciles per session with one turn, create to gone',
    atTurn - atStart + (await reconciles()) - atDeletion,
    'at most 10; sweeps left out',
  );
  figure('reconciles per further turn', atDeletion - atTurn, 'no budget');
}

/** Writes of controller and gateway, and what is not counted as theirs. */
function writes(of: string, {objects, events, leases, reviews, all, detail}: Writes, budget: string): void {
  figure(`API writes per ${of}`, objects + events, budget);
  figure('  of them Events', events, 'in the budget');
  figure('  Leases, reviews in that time', `${leases}, ${reviews}`, 'not in the budget');
  figure('  all in the namespace, kubelets, Kubernetes and the person too', all, 'no budget');
  const each = Object.entries(detail).map(([what, times]) => `${what} ${times}`);
  figure('  in detail', each.join(', '), 'no budget');
}

async function starts(): Promise<void> {
  await place.kubectl(['create', 'serviceaccount', 'reader']);
  await place.kubectl([
    'create',
    'rolebinding',
    'reader',
    '--clusterrole=cluster-admin',
    `--serviceaccount=${place.namespace}:reader`,
  ]);
  const gateway = await forwardGateway(environment.cluster);
  try {
    const token = await gatewayToken(environment.cluster, place.namespace, 'reader');
    const times = await step('five starts and wakes of a session, ten bare pods', () =>
      measureStarts({place, gateway, token}),
    );
    const bare = (ms: number) => `bare pod + 300 = ${ms + 300}`;
    figure('Session create to prompt handed over, new volume, median ms', times.session, bare(times.barePod));
    figure(
      'Turn create to prompt handed over, sleeping, bound volume, median ms',
      times.wake,
      bare(times.barePodBound),
    );
    figure(
      'bare pod to its first words, new and bound volume, ms',
      `${times.barePod}, ${times.barePodBound}`,
      'no budget',
    );
  } finally {
    gateway.close();
  }
}

/** With a session whose agent takes tools over stdio only, so that the bridge runs too. */
async function memory(): Promise<void> {
  await place.agent('over-stdio', ['--mcp-stdio']);
  await place.create('Session', 'memory', {agent: 'over-stdio', prompt: 'say here'});
  await place.firstTurnDone('memory');
  const budgets: Record<string, string> = {
    shim: 'at most 60',
    runner: 'at most 110',
    controller: 'at most 120 + 5 KB per object',
  };
  const peaks = await peakMemory();
  if (Object.keys(peaks).length === 0)
    return figure('peak memory', 'not measured', 'no process of the cluster runs on this machine');
  for (const [name, megabytes] of Object.entries(peaks).sort()) {
    figure(`peak memory of ${name}, MB`, megabytes, budgets[name] ?? 'no budget');
  }
}

/** Read calls of a gateway in a process of its own, by CPU time: what else the machine does changes little. */
async function gatewayRates(): Promise<void> {
  const {session, key, rest, bare, p99} = await step('read calls of a gateway', measureGateway);
  const beside = `bare node:http in the same run ${bare}`;
  figure('gateway read calls per second and core', session, `at least 1500; ${beside}`);
  figure('  p99 at 500 calls a second, ms', p99.session, `at most 25; bare node:http in the same run ${p99.bare}`);
  figure('  by an API key', key, 'no budget');
  figure('  over REST', rest, 'no budget');
  figure('  share of bare node:http', (session / bare).toFixed(2), 'no budget');
}

async function sizes(): Promise<void> {
  const {crane} = environment.cluster.tools;
  const {runtime, scriptedAgent} = environment.images;
  for (const [name, reference] of Object.entries({runtime, 'scripted agent': scriptedAgent})) {
    const manifest = Manifest.parse(JSON.parse(await run(crane, ['manifest', '--insecure', reference])));
    const bytes = manifest.layers.reduce((sum, layer) => sum + layer.size, 0);
    figure(`image ${name}, compressed MB`, (bytes / 1e6).toFixed(1), 'no budget');
  }
  const folder = await mkdtemp(join(tmpdir(), 'carrel-size-'));
  try {
    const tar = join(folder, 'runtime.tar');
    await run(crane, ['export', '--insecure', runtime, tar]);
    figure('runtime on disk, MB', ((await stat(tar)).size / 1e6).toFixed(1), 'no budget');
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}

/** Metrics of all controller pods, as text. */
async function controllerMetrics({cluster}: Environment): Promise<string> {
  const select = ['-n', RELEASE_NAMESPACE, 'get', 'pods', '-l', 'app.kubernetes.io/component=controller', '-o', 'name'];
  const pods = (await cluster.kubectl(select)).split('\n').filter((p) => p !== '');
  const texts = await Promise.all(
    pods.map((p) =>
      cluster.kubectl([
        'get',
        '--raw',
        `/api/v1/namespaces/${RELEASE_NAMESPACE}/pods/${p.replace('pod/', '')}:8082/proxy/metrics`,
      ]),
    ),
  );
  return texts.join('\n');
}

/** Sum over the controllers that serve people's kinds; sweeping is not work for a session. */
function sumMetric(text: string, name: string): number {
  let sum = 0;
  for (const line of text.split('\n')) {
    if (line.startsWith(`${name}{`) && !line.includes('controller="sweep'))
      sum += Number(line.slice(line.lastIndexOf(' ')));
  }
  return sum;
}

function add(a: Writes, b: Writes): Writes {
  const detail: Record<string, number> = {...a.detail};
  for (const [what, times] of Object.entries(b.detail)) detail[what] = (detail[what] ?? 0) + times;
  return {
    objects: a.objects + b.objects,
    events: a.events + b.events,
    leases: a.leases + b.leases,
    reviews: a.reviews + b.reviews,
    all: a.all + b.all,
    detail,
  };
}
