import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {type FakeApi, startFakeApi} from '../../test/support/fake-api.ts';
import {keptLog} from '../../test/support/log.ts';
import {type Widget, Widgets} from '../../test/support/widgets.ts';
import type {Outcome} from '../api/outcome.ts';
import {done, stalled, wait} from '../api/outcome.ts';
import {ConfigMaps} from './builtin.ts';
import {createCaches} from './cache.ts';
import {createClient} from './client.ts';
import {defineController, watch} from './controller.ts';
import type {ControllerSpec, ReconcileInput, RunningController} from './controller-ports.ts';
import {isApiError} from './errors.ts';
import {createRecorder} from './events.ts';
import type {Caches} from './ports.ts';
import {writeStatus} from './status.ts';

const soon = {timeoutMs: 10_000};
let api: FakeApi;
let caches: Caches;
let running: RunningController;
let log: ReturnType<typeof keptLog>;
let runs: string[];

beforeEach(async () => {
  api = await startFakeApi();
  log = keptLog();
  runs = [];
});
afterEach(async () => {
  await running.stop();
  await caches.stop();
  await api.close();
});

async function start(
  reconcile: (input: ReconcileInput<Widget>) => Promise<Outcome>,
  more: Partial<ControllerSpec<Widget>> = {},
  term = new AbortController().signal,
) {
  const {connection} = api;
  const client = createClient({connection, fieldManager: 'test', log});
  caches = createCaches({connection, log, random: () => 0});
  const cache = caches.add(Widgets);
  caches.add(ConfigMaps);
  caches.start();
  await caches.whenSynced(soon);
  const events = createRecorder({client, controller: 'kube.test/widget', instance: 'one', log});
  const definition = defineController<Widget>({
    name: 'widget',
    resource: Widgets,
    ...more,
    async reconcile(input) {
      runs.push(input.key.name);
      return reconcile(input);
    },
  });
  running = definition.start({caches, client, events, log, term});
  return cache;
}
const put = (name: string, size = 1) => api.put(Widgets, {metadata: {name, namespace: 'a'}, spec: {size}});
const ref = (name: string) => ({namespace: 'a', name});
const settled = (probe: () => boolean) =>
  caches.of(Widgets).waitUntil(() => (running.pending() === 0 && probe()) || undefined, soon);
const writes = () => api.requests.filter((r) => r.method !== 'GET');

async function until(probe: () => boolean): Promise<void> {
  const end = performance.now() + soon.timeoutMs;
  while (!probe()) {
    if (performance.now() > end) throw new Error('never came true');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const mirror = async ({object, write}: ReconcileInput<Widget>): Promise<Outcome> => {
  await writeStatus({write, resource: Widgets, object, status: {count: object.spec.size}});
  return done;
};

describe('one status write', () => {
  test('what exists and what comes is reconciled; twice is a no-op', async () => {
    put('old');
    await start(mirror);
    put('new', 7);
    await until(() => api.get(Widgets, ref('new'))?.status?.count === 7);
    await until(() => running.pending() === 0);
    const before = writes().length;
    running.enqueue({namespace: 'a', name: 'new'});
    running.enqueue({namespace: 'a', name: 'old'});
    await until(() => running.pending() === 0);
    expect(before).toBe(2);
    expect(writes()).toHaveLength(2);
  });

  test('F12 a key does not run again before the caches have shown its last write', async () => {
    put('x');
    const counts: number[] = [];
    await start(async ({object, write}) => {
      const count = object.status?.count ?? 0;
      counts.push(count);
      if (count === 5) return done;
      await writeStatus({write, resource: Widgets, object, status: {count: count + 1}});
      return wait(0);
    });
    await until(() => counts.includes(5) && running.pending() === 0);
    expect(counts.slice(0, 6)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(log.lines.filter((l) => l.level === 'warn')).toEqual([]);
  });

  test('F12 while the cache lags behind, a child is not created twice', async () => {
    put('x');
    const creates: string[] = [];
    await start(async ({key, read, write}) => {
      if (read.of(ConfigMaps).get({namespace: 'a', name: 'child'}) !== undefined) return done;
      creates.push(key.name);
      await write.create(ConfigMaps, {metadata: {namespace: 'a', name: 'child'}});
      return wait(0);
    });
    await until(() => running.pending() === 0 && creates.length === 1);
    api.drop(ConfigMaps, {namespace: 'a', name: 'child'});
    await until(() => caches.of(ConfigMaps).list().length === 0);
    creates.length = 0;
    runs.length = 0;
    api.hold();
    running.enqueue({namespace: 'a', name: 'x'});
    await until(() => creates.length === 1);
    for (let n = 0; n < 20; n++) {
      running.enqueue({namespace: 'a', name: 'x'});
      await until(() => running.pending() === 0);
    }
    expect([runs.length, creates.length]).toEqual([1, 1]);
    api.release();
    await until(() => runs.length > 1 && running.pending() === 0);
    expect(creates).toHaveLength(1);
    expect(log.lines.filter((l) => l.level !== 'debug')).toEqual([]);
  });

  test('F5 a conflicting write leads to a fresh look, not to a blind repetition', async () => {
    put('x', 1);
    let raced = false;
    await start(async (input) => {
      if (!raced) {
        raced = true;
        put('x', 2);
      }
      return mirror(input);
    });
    await until(() => api.get(Widgets, ref('x'))?.status?.count === 2);
    expect(log.lines.some((l) => l.message === 'reconcile met another write')).toBe(true);
  });
});

describe('outcomes', () => {
  test('wait comes back by itself, stalled and done do not', async () => {
    for (const name of ['waits', 'stalls', 'done']) put(name);
    await start(async ({key}) =>
      key.name === 'waits' && runs.filter((n) => n === 'waits').length < 3
        ? wait(1)
        : key.name === 'stalls'
          ? stalled('AgentNotFound')
          : done,
    );
    await until(() => runs.filter((n) => n === 'waits').length === 3 && running.pending() === 0);
    expect(runs.filter((n) => n !== 'waits').sort()).toEqual(['done', 'stalls']);
  });

  test('F48 R-F an object whose reconcile throws is tried again; the others go on', async () => {
    put('bad');
    await start(async ({key}) => {
      if (key.name === 'bad') throw new Error('poison');
      return done;
    });
    put('good');
    await until(() => runs.includes('good') && runs.filter((n) => n === 'bad').length >= 2);
    expect(log.lines.some((l) => l.message === 'reconcile failed')).toBe(true);
  });

  test('the process memory of a deleted object is cleaned up', async () => {
    put('x');
    const gone: string[] = [];
    await start(async () => done, {gone: (key) => gone.push(key.name)});
    await until(() => runs.includes('x'));
    api.drop(Widgets, ref('x'));
    await until(() => gone.length === 1);
  });
});

describe('waking', () => {
  test('another kind wakes the keys it names, with its old and its new owner', async () => {
    put('x');
    put('y');
    await start(async () => done, {
      watches: [watch({resource: ConfigMaps, enqueue: (c) => [{namespace: 'a', name: c.data?.['for'] ?? 'none'}]})],
    });
    await until(() => runs.length === 2 && running.pending() === 0);
    runs.length = 0;
    const config = (name: string) => api.put(ConfigMaps, {metadata: {name: 'c', namespace: 'a'}, data: {for: name}});
    config('x');
    await until(() => runs.length === 1);
    config('y');
    await until(() => runs.length === 3);
    expect([...runs].sort()).toEqual(['x', 'x', 'y']);
  });

  test('one key is never worked on twice at once', async () => {
    let at = 0;
    let most = 0;
    await start(
      async ({key}) => {
        if (key.name !== 'x') return done;
        most = Math.max(most, ++at);
        await new Promise((resolve) => setImmediate(resolve));
        at--;
        return done;
      },
      {workers: 8},
    );
    for (let n = 0; n < 20; n++) put('x', n);
    await until(() => runs.length > 1 && running.pending() === 0);
    expect(most).toBe(1);
  });

  test('every object is looked at again within the resync time, and then nothing is written', async () => {
    for (let n = 0; n < 20; n++) put(`w${n}`);
    await start(mirror, {resyncMs: 50});
    await until(() => writes().length === 20 && running.pending() === 0);
    runs.length = 0;
    await until(() => new Set(runs).size === 20);
    expect(writes()).toHaveLength(20);
  });

  test('stop waits for what runs and starts nothing more', async () => {
    put('x');
    let release = () => {};
    await start(() => new Promise((resolve) => (release = () => resolve(done))));
    await until(() => runs.length === 1);
    const stopping = running.stop();
    put('y');
    release();
    await stopping;
    expect(runs).toEqual(['x']);
  });
});

test('F20 the end of the term aborts running reconciles at once, before anybody stops the controller', async () => {
  put('x');
  const term = new AbortController();
  const ended: string[] = [];
  await start(
    async ({write, key, signal}) => {
      api.fault = (r) => (r.method === 'GET' && r.path.endsWith('/x') ? 'hang' : undefined);
      await write.get(Widgets, key).catch((error: unknown) => {
        ended.push(isApiError(error) ? error.kind : 'Other', String(signal.aborted));
        throw error;
      });
      return done;
    },
    {},
    term.signal,
  );
  await until(() => api.requests.some((r) => r.path.endsWith('/x')));
  term.abort();
  await until(() => log.lines.some((l) => l.message === 'reconcile aborted'));
  expect(ended).toEqual(['Aborted', 'true']);
});

test('events of a reconcile are written', async () => {
  put('x');
  await start(async ({object, events}) => {
    events.record({regarding: object, type: 'Normal', reason: 'Made', action: 'Make', note: 'made'});
    return done;
  });
  await until(() => writes().some((r) => r.path === '/apis/events.k8s.io/v1/namespaces/a/events'));
  await settled(() => true);
});
