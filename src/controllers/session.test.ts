import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {
  AGENT_IMAGE,
  type ControllerFixture,
  putAddresses,
  sessionSpec,
  startControllers,
} from '../../test/support/controller-fixture.ts';
import {type FakeApi, startFakeApi} from '../../test/support/fake-api.ts';
import {revisionData} from '../../test/support/session-objects.ts';
import type {Pod} from '../api/kube-pod.ts';
import type {SessionObject} from '../api/v1alpha1/index.ts';
import {ArchiveError} from '../domain/archive.ts';
import {Events, Pods} from '../kube/builtin.ts';
import {systemClock} from '../kube/clock.ts';
import {Agents, Sessions, Turns} from '../kube/kinds.ts';
import {ClusterAddresses} from './cluster-ip.ts';

const namespace = 'team';
let api: FakeApi;
let run: ControllerFixture;
/** Milliseconds that the controllers' clock is ahead. */
let ahead = 0;

beforeEach(async () => {
  api = await startFakeApi();
  putAddresses(api, namespace);
  api.put(Agents, {
    metadata: {name: 'scribe', namespace, generation: 1},
    spec: {...revisionData().spec, image: AGENT_IMAGE},
  });
  ahead = 0;
  const clock = {...systemClock, now: () => systemClock.now() + ahead};
  run = await startControllers({connection: api.connection, namespace, clock});
  await run.until('published', async () => api.get(Agents, {namespace, name: 'scribe'})?.status?.publishedRevision);
  await run.settled();
  api.requests.length = 0;
  for (const key of Object.keys(run.reconciles)) delete run.reconciles[key];
});
afterEach(async () => {
  await run.stop();
  await api.close();
});

/** Writes since the last look, reads left out: `POST pods`, `PATCH sessions status`. */
function writes(): string[] {
  const all = api.requests
    .filter((r) => r.method !== 'GET')
    .map((r) => {
      const parts = r.path.split('/').filter((p) => p !== '');
      const plural = parts[parts.indexOf('namespaces') + 2] ?? '';
      return `${r.method} ${plural}${r.path.endsWith('/status') ? ' status' : ''}`;
    });
  api.requests.length = 0;
  return all;
}

const archiveCondition = ({status}: SessionObject) => status?.conditions?.find((c) => c.type === 'ArchiveUnavailable');

async function firstTurnRuns(): Promise<string> {
  if (api.get(Sessions, {namespace, name: 'one'}) === undefined)
    api.put(Sessions, {metadata: {name: 'one', namespace, generation: 1}, spec: sessionSpec({prompt: 'hello'})});
  await run.until('pod', async () => (await run.session('one')).status?.pod);
  await run.report('one');
  return run.until('first turn runs', async () => {
    const active = (await run.session('one')).status?.activeTurn?.name;
    return active !== undefined && (await run.turn(active)).status?.phase === 'Running' ? active : undefined;
  });
}

/** Reconciles since the last look, of everything but sweeping. */
function reconciles(): number {
  const all = Object.entries(run.reconciles).filter(([name]) => !name.startsWith('sweep'));
  for (const key of Object.keys(run.reconciles)) delete run.reconciles[key];
  return all.reduce((sum, [, times]) => sum + times, 0);
}

/** The kubelet starts the pod step by step, as a real one does. */
async function podStarts(): Promise<void> {
  const at = new Date().toISOString();
  const container = {image: '', imageID: '', ready: true, restartCount: 0};
  const conditions = [{type: 'PodScheduled', status: 'True', lastTransitionTime: at}];
  const waits = (name: string) => ({...container, name, state: {waiting: {reason: 'PodInitializing'}}});
  const runs = (name: string) => ({...container, name, state: {running: {startedAt: at}}});
  const steps = [
    {phase: 'Pending', conditions},
    {phase: 'Pending', conditions, initContainerStatuses: [waits('runner')], containerStatuses: [waits('agent')]},
    {phase: 'Pending', conditions, initContainerStatuses: [runs('runner')], containerStatuses: [waits('agent')]},
    {phase: 'Running', conditions, initContainerStatuses: [runs('runner')], containerStatuses: [runs('agent')]},
  ];
  for (const step of steps) {
    await run.podStatus('one', step);
    await run.settled();
  }
}

async function firstTurnEnds(): Promise<void> {
  api.put(Sessions, {metadata: {name: 'one', namespace, generation: 1}, spec: sessionSpec({prompt: 'hello'})});
  await run.until('pod', async () => (await run.session('one')).status?.pod);
  await run.settled();
  await podStarts();
  // The kubelet is not counted.
  api.requests.splice(0, api.requests.length, ...api.requests.filter((r) => !r.path.includes('/pods/')));
  await run.finish(await firstTurnRuns());
  await run.until('idle', async () => ((await run.session('one')).status?.phase === 'Idle' ? true : undefined));
  await run.settled();
}

/** A further turn, from its creation until the session is idle again. */
async function furtherTurn(metadata: object): Promise<void> {
  const spec = {session: 'one', input: [{text: 'more'}], delivery: 'Queue' as const};
  api.put(Turns, {metadata: {name: 'second', namespace, generation: 1, ...metadata}, spec});
  await run.until('second runs', async () =>
    (await run.turn('second')).status?.phase === 'Running' ? true : undefined,
  );
  await run.settled();
  await run.finish('second');
  await run.until('idle', async () => ((await run.session('one')).status?.turns === 2 ? true : undefined));
  await run.settled();
}

// Each is there for a reason: admission is a compare-and-swap of the Session, the turn is handed over only after it, the
// gateway ends it, and the Session is free again.
const TURN = ['PATCH sessions status', 'PATCH sessions status', 'PATCH turns status', 'PATCH turns status'];

describe('writes of the controller and the gateway, as the budget counts them', () => {
  it('from create to the end of the first turn: 12 with 1 Event, in 4 reconciles; gone: nothing more', async () => {
    await firstTurnEnds();
    expect(writes().sort()).toEqual(
      [
        'POST persistentvolumeclaims',
        'POST turns',
        // The attempt before its pod.
        'PATCH sessions status',
        'POST pods',
        // The pod, from which on its token counts; and the turn waits, while images are pulled.
        'PATCH sessions status',
        'PATCH turns status',
        'POST events',
        // The runner reports.
        'PATCH sessions status',
        ...TURN,
      ].sort(),
    );
    expect(reconciles()).toBe(4);
    api.drop(Sessions, {namespace, name: 'one'});
    for (const turn of api.list(Turns)) api.drop(Turns, turn.metadata);
    for (const pod of api.list(Pods)) api.drop(Pods, pod.metadata);
    await run.settled();
    expect(writes()).toEqual([]);
    expect(reconciles()).toBe(0);
  });

  it('a further turn of the gateway: 4 beside its creation, in 2 reconciles', async () => {
    await firstTurnEnds();
    writes();
    reconciles();
    const {uid} = (await run.session('one')).metadata;
    const owner = {apiVersion: 'carrel.dev/v1alpha1', kind: 'Session', name: 'one', uid, controller: true};
    await furtherTurn({ownerReferences: [owner]});
    expect(writes().sort()).toEqual(TURN);
    expect(reconciles()).toBe(2);
  });

  it('a further turn made with plain kubectl: one more, which makes it go with its Session, in 3 reconciles', async () => {
    await firstTurnEnds();
    writes();
    reconciles();
    await furtherTurn({});
    expect(writes().sort()).toEqual([...TURN.slice(0, 2), 'PATCH turns', ...TURN.slice(2)]);
    expect(reconciles()).toBe(3);
  });
});

describe('a session that fails', () => {
  it('costs its queued turn one write, which says so; nothing is written again until restart is raised', async () => {
    const spec = sessionSpec({prompt: 'hello'});
    api.put(Sessions, {metadata: {name: 'one', namespace, generation: 1}, spec});
    await run.until('pod', async () => (await run.session('one')).status?.pod);
    await run.settled();
    writes();
    await run.report('one', {state: 'Failed', reason: 'CommandNotFound', message: 'no such program'});
    const {initialTurn} = await run.until('failed and gone', async () => {
      const now = (await run.session('one')).status;
      return now?.phase === 'Failed' && now.pod === undefined ? now : undefined;
    });
    await run.settled();
    expect(writes().filter((w) => w.includes('turns'))).toEqual(['PATCH turns status']);
    const told = (await run.turn(initialTurn?.name ?? '')).status;
    expect(told?.conditions?.map((c) => [c.type, c.reason])).toEqual([
      ['Ready', 'SessionFailed'],
      ['Stalled', 'SessionFailed'],
    ]);
    await run.stop();
    run = await startControllers({connection: api.connection, namespace});
    await run.settled();
    expect(writes()).toEqual([]);
  });
});

describe('deletion', () => {
  it('costs no write: what a session owns goes with it', async () => {
    const first = await firstTurnRuns();
    await run.settled();
    writes();
    api.drop(Sessions, {namespace, name: 'one'});
    await run.settled();
    expect(writes()).toEqual([]);
    expect((await run.turn(first)).status?.phase).toBe('Running');
  });
});

describe('twice is a no-op', () => {
  it('a session that is settled is not written by a second look', async () => {
    const first = await firstTurnRuns();
    await run.finish(first);
    await run.until('idle', async () => ((await run.session('one')).status?.phase === 'Idle' ? true : undefined));
    await run.settled();
    writes();
    await run.stop();
    run = await startControllers({connection: api.connection, namespace});
    await run.settled();
    expect(writes()).toEqual([]);
  });
});

describe('the addresses that pods are told', () => {
  const service = (name: string) => ({namespace, name});
  /** A Service never changes its address: it is deleted and made again. */
  const move = async (name: string, clusterIP: string) => {
    api.drop(ClusterAddresses, service(name));
    await run.settled();
    expect(reconciles()).toBe(0);
    api.put(ClusterAddresses, {metadata: service(name), spec: {clusterIP}});
  };

  it.each(['carrel-gateway', 'carrel-egress'])(
    'when %s moves, an idle pod goes at once; the next one is told',
    async (name) => {
      await firstTurnEnds();
      reconciles();
      await move(name, '10.0.0.9');
      const asleep = await run.until('asleep', async () => {
        const {status} = await run.session('one');
        return status?.phase === 'Sleeping' && status.pod === undefined ? status : undefined;
      });
      expect(asleep.attempt).toBe(1);
      const spec = {session: 'one', input: [{text: 'more'}], delivery: 'Queue' as const};
      api.put(Turns, {metadata: {name: 'second', namespace, generation: 1}, spec});
      const pod = await run.until('pod', async () => (await run.session('one')).status?.pod);
      expect(JSON.stringify(api.get(Pods, {namespace, name: pod.name})?.spec)).toContain('10.0.0.9:');
    },
  );

  it('when they move while a turn runs, its pod stays and says so; another Service of the namespace wakes nobody', async () => {
    await firstTurnRuns();
    await run.settled();
    reconciles();
    api.put(ClusterAddresses, {metadata: service('other'), spec: {clusterIP: '10.0.0.3'}});
    await run.settled();
    expect(reconciles()).toBe(0);
    await move('carrel-gateway', '10.0.0.9');
    const told = await run.until('told', async () => {
      const {status} = await run.session('one');
      return status?.conditions?.some((c) => c.type === 'AddressMoved') === true ? status : undefined;
    });
    expect(told).toMatchObject({phase: 'Running', attempt: 1});
  });

  it('a session that starts before there are any waits, and goes on when the last one comes', async () => {
    for (const {metadata} of api.list(ClusterAddresses)) api.drop(ClusterAddresses, metadata);
    api.put(Sessions, {metadata: {name: 'one', namespace, generation: 1}, spec: sessionSpec({prompt: 'hello'})});
    const told = await run.until('told', async () => {
      const ready = (await run.session('one')).status?.conditions?.find((c) => c.type === 'Ready');
      return ready?.message.includes('no cluster address') === true ? ready : undefined;
    });
    expect(told).toMatchObject({status: 'False', reason: 'Starting'});
    await run.settled();
    putAddresses(api, namespace);
    await run.until('pod', async () => (await run.session('one')).status?.pod);
  });
});

describe('faults', () => {
  it('a pod that was made but not recorded is taken, not made twice', async () => {
    let lost = 0;
    api.fault = (request) => {
      if (request.method === 'POST' && request.path.endsWith('/pods') && lost++ === 0) return 'lose';
      return undefined;
    };
    await firstTurnRuns();
    expect(api.list(Pods)).toHaveLength(1);
    expect((await run.session('one')).status?.attempt).toBe(1);
  });

  it('a report that comes while a failed pod is deleted does not turn the failure into a loss', async () => {
    const spec = sessionSpec({prompt: 'hello'});
    api.put(Sessions, {metadata: {name: 'one', namespace, generation: 1}, spec});
    await run.until('pod', async () => (await run.session('one')).status?.pod);
    let overtaken = 0;
    api.fault = (request) => {
      const session = api.get(Sessions, {namespace, name: 'one'});
      const runner = session?.status?.runner;
      if (request.method === 'DELETE' && session !== undefined && runner !== undefined && overtaken++ === 0) {
        api.put(Sessions, {...session, status: {...session.status, runner: {...runner, epoch: 2}}});
      }
      return undefined;
    };
    await run.report('one', {state: 'Failed', reason: 'CommandNotFound', message: 'no such program'});
    const status = await run.until('failed and gone', async () => {
      const now = (await run.session('one')).status;
      return now?.phase === 'Failed' && now.pod === undefined ? now : undefined;
    });
    await run.settled();
    expect(overtaken).toBeGreaterThan(0);
    expect(status).toMatchObject({attempt: 1, stoppedReason: 'StartFailed', runner: {epoch: 2}});
    expect(api.list(Pods)).toEqual([]);
  });

  it('while the archive is down a turn whose pod is lost stays Running; then it ends once', async () => {
    const first = await firstTurnRuns();
    run.archiveFault = new ArchiveError('Unavailable', 'archive is down');
    const pod = (await run.session('one')).status?.pod?.name ?? '';
    api.drop(Pods, {namespace, name: pod});
    await run.until('the failure is logged', async () =>
      run.log.lines.some((l) => l.message === 'reconcile failed') ? true : undefined,
    );
    expect(archiveCondition(await run.session('one'))).toBeUndefined();
    ahead = 10_000;
    const told = await run.until('the session says so', async () => archiveCondition(await run.session('one')));
    expect(told).toMatchObject({
      status: 'True',
      reason: 'ArchiveUnavailable',
      message: expect.stringContaining('nothing is lost while the pod stays'),
    });
    expect((await run.turn(first)).status?.phase).toBe('Running');
    run.archiveFault = undefined;
    const ended = await run.until('ended', async () => {
      const {status} = await run.turn(first);
      return status?.phase === 'Failed' ? status : undefined;
    });
    expect(ended).toMatchObject({error: {code: 'outcome_unknown'}, archived: true});
    expect(run.archived).toHaveLength(1);
    await run.until('attempt 2', async () => ((await run.session('one')).status?.attempt === 2 ? true : undefined));
    await run.settled();
    expect(archiveCondition(await run.session('one'))).toBeUndefined();
  });

  it('a failed session does not say for ever that the archive was down when it failed', async () => {
    const first = await firstTurnRuns();
    run.archiveFault = new ArchiveError('Unavailable', 'archive is down');
    await run.report('one', {state: 'Failed', reason: 'StartFailed', message: 'gone for good'});
    await run.until('failed', async () => ((await run.session('one')).status?.phase === 'Failed' ? true : undefined));
    await run.until('the failure is logged', async () =>
      run.log.lines.some((l) => l.message === 'reconcile failed') ? true : undefined,
    );
    ahead = 10_000;
    await run.until('the session says so', async () => archiveCondition(await run.session('one')));
    run.archiveFault = undefined;
    await run.until('ended', async () => ((await run.turn(first)).status?.phase === 'Failed' ? true : undefined));
    await run.until('taken back', async () =>
      archiveCondition(await run.session('one')) === undefined ? true : undefined,
    );
    expect((await run.session('one')).status?.conditions?.map((c) => c.type)).toContain('Failed');
  });

  it('while the archive is down an attempt goes on: pod and volume are recorded, only the queue waits', async () => {
    await firstTurnRuns();
    run.archiveFault = new Error('archive is down');
    const pod = (await run.session('one')).status?.pod?.name ?? '';
    api.drop(Pods, {namespace, name: pod});
    const status = await run.until('second pod', async () => {
      const now = (await run.session('one')).status;
      return now?.attempt === 2 && now.pod !== undefined ? now : undefined;
    });
    expect(status).toMatchObject({turns: 0, admitted: [{sequence: 1}]});
    run.archiveFault = undefined;
    await run.until('counted once', async () => ((await run.session('one')).status?.turns === 1 ? true : undefined));
    expect(run.archived).toHaveLength(1);
  });

  it('a quota that takes no turn is told, and the prompt is not lost', async () => {
    const message = 'exceeded quota: q, requested: count/turns.carrel.dev=1, used: 0, limited: 0';
    api.fault = (request) =>
      request.method === 'POST' && request.path.endsWith('/turns')
        ? {status: 403, body: {kind: 'Status', reason: 'Forbidden', message, code: 403}}
        : undefined;
    api.put(Sessions, {metadata: {name: 'one', namespace, generation: 1}, spec: sessionSpec({prompt: 'hello'})});
    const ready = await run.until('told', async () =>
      (await run.session('one')).status?.conditions?.find((c) => c.type === 'Ready' && c.reason === 'QuotaExceeded'),
    );
    expect(ready.message).toContain('the first turn');
    expect((await run.session('one')).status?.initialTurn).toBeUndefined();
  });

  it('a quota that takes no volume is told, and not asked without end', async () => {
    const message = 'exceeded quota: q, requested: persistentvolumeclaims=1, used: 0, limited: 0';
    api.fault = (request) =>
      request.method === 'POST' && request.path.endsWith('/persistentvolumeclaims')
        ? {status: 403, body: {kind: 'Status', reason: 'Forbidden', message, code: 403}}
        : undefined;
    api.put(Sessions, {metadata: {name: 'one', namespace, generation: 1}, spec: sessionSpec({prompt: 'hello'})});
    await run.until('told', async () =>
      (await run.session('one')).status?.conditions?.find((c) => c.reason === 'QuotaExceeded'),
    );
    await run.settled();
    expect((await run.session('one')).status).toMatchObject({phase: 'Pending'});
    // Its creation, and the first turn's.
    expect(reconciles()).toBeLessThanOrEqual(3);
  });

  it('two writers: a status patch that meets another one is decided anew', async () => {
    let conflicts = 0;
    api.fault = (request) => {
      const hit = request.method === 'PATCH' && request.path.endsWith('/sessions/one/status') && conflicts++ === 0;
      return hit ? {status: 409, body: {kind: 'Status', reason: 'Conflict', message: 'changed', code: 409}} : undefined;
    };
    await firstTurnRuns();
    expect(conflicts).toBeGreaterThan(1);
    expect(api.list(Turns)).toHaveLength(1);
  });
});

describe('what comes back when a pod is made', () => {
  const made = (request: {method: string; path: string}) => request.method === 'POST' && request.path.endsWith('/pods');
  const create = (name = 'one') =>
    api.put(Sessions, {metadata: {name, namespace, generation: 1}, spec: sessionSpec({prompt: 'hello'})});

  /** An API server without image volumes: it takes the pod, and drops them without a word. */
  const dropped = (request: {body: string}) => {
    const pod: Pod = JSON.parse(request.body);
    const volumes = pod.spec.volumes?.filter((v) => v.image === undefined);
    const metadata = {...pod.metadata, uid: 'dropped', resourceVersion: '1'};
    return {status: 201, body: {...pod, metadata, spec: {...pod.spec, volumes}}};
  };
  const asksForImages = (request: {method: string; path: string; body: string}) =>
    made(request) && request.body.includes('"image":{"reference"');
  const initContainers = async (session: string) => {
    const {name} = await run.until(`pod of ${session}`, async () => (await run.session(session)).status?.pod);
    return api.get(Pods, {namespace, name})?.spec.initContainers?.map((c) => c.name);
  };
  const switched = async () => {
    await run.settled();
    return api.list(Events).filter((e) => e.reason === 'RuntimeSwitched').length;
  };

  it('an API server that drops image volumes: the runtime is copied instead, for all that follow', async () => {
    api.fault = (request) => (asksForImages(request) ? dropped(request) : undefined);
    create();
    expect(await initContainers('one')).toEqual(['runner', 'runtime']);
    expect((await run.session('one')).status?.attempt).toBe(1);
    expect(await switched()).toBe(1);
  });

  it('two sessions that start at once on such an API server: both go over, one of them says so', async () => {
    const both = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    let asked = 0;
    api.fault = async (request) => {
      if (!asksForImages(request)) {
        if (made(request)) over.resolve();
        return undefined;
      }
      asked += 1;
      if (asked === 1) await both.promise;
      // The other one learns of it when the first has gone over already.
      else {
        both.resolve();
        await over.promise;
      }
      return dropped(request);
    };
    create();
    create('two');
    for (const name of ['one', 'two']) {
      expect(await initContainers(name)).toEqual(['runner', 'runtime']);
      expect((await run.session(name)).status?.attempt).toBe(1);
    }
    expect(asked).toBe(2);
    expect(await switched()).toBe(1);
  });

  it('two sessions whose pods are on a node that refuses image volumes: both go over', async () => {
    const refused = {reason: 'CreateContainerError', message: 'ImageVolumeMountFailed: no such snapshotter'};
    const agent = {name: 'agent', image: '', imageID: '', ready: false, restartCount: 0, state: {waiting: refused}};
    for (const name of ['one', 'two']) {
      create(name);
      expect(await initContainers(name)).toEqual(['runner']);
    }
    for (const name of ['one', 'two']) {
      await run.podStatus(name, {phase: 'Pending', containerStatuses: [agent]});
      await run.until('attempt 2', async () => ((await run.session(name)).status?.attempt === 2 ? true : undefined));
      expect(await initContainers(name)).toEqual(['runner', 'runtime']);
    }
  });

  it('a foreign pod under the name of ours is deleted, and ours is made', async () => {
    api.fault = (request) => {
      if (!request.path.endsWith('/sessions/one/status') || api.list(Pods).length > 0) return undefined;
      const uid = api.get(Sessions, {namespace, name: 'one'})?.metadata.uid ?? '';
      const spec = {containers: [{name: 'agent', image: 'evil'}]};
      api.put(Pods, {metadata: {name: `carrel-one-${uid.slice(0, 8)}-1`, namespace}, spec});
      return undefined;
    };
    create();
    const ref = await run.until('pod', async () => (await run.session('one')).status?.pod);
    expect(api.list(Pods).map((p) => [p.metadata.uid, p.spec.containers[0]?.image])).toEqual([[ref.uid, AGENT_IMAGE]]);
    await run.settled();
    expect(api.list(Events).filter((e) => e.reason === 'PodForeign')).toHaveLength(1);
  });

  it.each([
    ['made by an earlier release', (pod: Pod) => ({...pod.spec, initContainers: []})],
    [
      'made to copy the runtime by a process that had given image volumes up',
      (pod: Pod) => ({...pod.spec, volumes: pod.spec.volumes?.filter((v) => v.image === undefined)}),
    ],
  ])('a pod of ours %s and never recorded goes, and one as it is asked for now follows', async (_what, spec) => {
    let earlier = '';
    api.fault = (request) => {
      if (!made(request) || earlier !== '') return undefined;
      const pod: Pod = JSON.parse(request.body);
      earlier = api.put(Pods, {...pod, metadata: {...pod.metadata, namespace}, spec: spec(pod)}).metadata.uid;
      return undefined;
    };
    create();
    const ref = await run.until('pod', async () => (await run.session('one')).status?.pod);
    expect(api.list(Pods).map((p) => p.metadata.uid)).toEqual([ref.uid]);
    expect(ref.uid).not.toBe(earlier);
    expect(await initContainers('one')).toEqual(['runner']);
    expect((await run.session('one')).status).toMatchObject({phase: 'Starting', attempt: 1});
    const deletes = api.requests.filter((r) => r.method === 'DELETE').map((r) => JSON.parse(r.body));
    // Its processes may run already.
    expect(deletes).toMatchObject([{preconditions: {uid: earlier}, gracePeriodSeconds: 30}]);
    expect(await switched()).toBe(0);
    expect(api.list(Events).filter((e) => e.reason === 'PodForeign')).toHaveLength(1);
  });

  it('a webhook that adds a container: the session fails and says which field, nothing loops', async () => {
    let posts = 0;
    api.fault = (request) => {
      if (!made(request)) return undefined;
      posts += 1;
      const pod: Pod = JSON.parse(request.body);
      const metadata = {...pod.metadata, uid: 'mutated', resourceVersion: '1'};
      const containers = [...pod.spec.containers, {name: 'mesh', image: 'mesh'}];
      return {status: 201, body: {...pod, metadata, spec: {...pod.spec, containers}}};
    };
    create();
    const status = await run.until('failed', async () => {
      const now = (await run.session('one')).status;
      return now?.phase === 'Failed' ? now : undefined;
    });
    expect(status.stoppedReason).toBe('PodMutated');
    expect(status.conditions?.find((c) => c.type === 'Ready')?.message).toContain('spec.containers[].name');
    await run.settled();
    expect(posts).toBe(1);
  });
});
