import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {eventually} from '../../test/support/eventually.ts';
import {type FakeApi, type Fault, startFakeApi} from '../../test/support/fake-api.ts';
import {keptLog} from '../../test/support/log.ts';
import {type Widget, Widgets} from '../../test/support/widgets.ts';
import {ConfigMaps} from './builtin.ts';
import {createCaches} from './cache.ts';
import {type Clock, systemClock} from './clock.ts';
import {ApiError} from './errors.ts';
import type {Cache, CacheOptions, Caches} from './ports.ts';
import type {ReflectorTimes} from './reflector.ts';
import {reconnectDelay} from './retry.ts';

const soon = {timeoutMs: 10_000};
let api: FakeApi;
let caches: Caches;
let changes: string[];
let log: ReturnType<typeof keptLog>;

beforeEach(async () => {
  api = await startFakeApi();
  changes = [];
  log = keptLog();
});
afterEach(async () => {
  await caches.stop();
  await api.close();
});

async function open(
  options: CacheOptions<Widget> = {},
  times: Partial<ReflectorTimes> = {},
  clock = systemClock,
): Promise<Cache<Widget>> {
  caches = createCaches({connection: api.connection, log, random: () => 0, times, clock});
  const cache = caches.add(Widgets, options);
  cache.subscribe((c) => changes.push(`${c.old?.metadata.uid ?? '-'} -> ${c.new?.metadata.uid ?? '-'}`));
  caches.start();
  expect(await caches.whenSynced(soon)).toBe(true);
  return cache;
}
const put = (name: string, spec: Widget['spec'] = {}) => api.put(Widgets, {metadata: {name, namespace: 'a'}, spec});
const ref = (name: string) => ({namespace: 'a', name});
const seen = (cache: Cache<Widget>, object: Widget) =>
  cache.waitFor(ref(object.metadata.name), object.metadata.resourceVersion, soon);
const lists = () =>
  api.requests.filter((r) => r.query.get('watch') === null || r.query.get('sendInitialEvents') === 'true').length;
const open1 = (cache: Cache<Widget>) =>
  cache.waitUntil(() => (cache.fresh() && api.watching() === 1) || undefined, soon);

describe('following', () => {
  test('the first list and later changes arrive over one WatchList', async () => {
    put('x', {size: 1});
    const cache = await open();
    expect(cache.get(ref('x'))?.spec.size).toBe(1);
    expect(await seen(cache, put('x', {size: 2}))).toBe(true);
    expect(cache.get(ref('x'))?.spec.size).toBe(2);
    api.drop(Widgets, ref('x'));
    await cache.waitUntil(() => (cache.get(ref('x')) === undefined ? true : undefined), {...soon, ref: ref('x')});
    expect(changes).toEqual(['- -> uid-1', 'uid-1 -> uid-1', 'uid-1 -> -']);
    expect(api.requests).toHaveLength(1);
  });

  test('a server without WatchList is listed in pages and then watched', async () => {
    api.noWatchList = true;
    api.pageSize = 1;
    put('x');
    put('y');
    const cache = await open();
    expect(cache.list()).toHaveLength(2);
    expect(cache.list()[0]?.kind).toBe('Widget');
    expect(await seen(cache, put('z'))).toBe(true);
  });

  test.each<[string, Fault | undefined, number]>([
    ['opens, but is never complete', undefined, 1],
    ['is not even opened', 'hang', 0],
  ])('a WatchList that %s in time is replaced by pages, and only this once', async (_name, fault, watches) => {
    const limits: (() => void)[] = [];
    const after: Clock['after'] = (ms, fn) => {
      if (ms !== 77_777) return systemClock.after(ms, fn);
      limits.push(fn);
      return () => {};
    };
    put('x');
    api.endlessWatchList = true;
    api.fault = () => fault;
    const opened = open({}, {initialMs: 77_777}, {...systemClock, after});
    const begun = () => expect([api.requests.length, api.watching()]).toEqual([1, watches]);
    await eventually(begun);
    api.endlessWatchList = false;
    api.fault = () => undefined;
    limits.shift()?.();
    const cache = await opened;
    await open1(cache);
    api.endWatches('expire');
    expect(await seen(cache, put('y'))).toBe(true);
    const asked = api.requests.map((r) => [
      r.query.get('watch') === 'true',
      r.query.get('sendInitialEvents') === 'true',
    ]);
    expect(asked).toEqual([
      [true, true],
      [false, false],
      [true, false],
      [true, true],
    ]);
    expect(log.lines.filter((l) => l.level !== 'debug')).toEqual([
      {
        level: 'warn',
        fields: {resource: 'widgets.kube.test', limitMs: 77_777},
        message: 'the WatchList was not complete in time: this once the list is paged',
      },
    ]);
  });

  test('bodies and managedFields are dropped before anything is kept', async () => {
    put('x', {size: 1, body: 'very long'});
    const cache = await open({prune: (w) => ({...w, spec: {...w.spec, body: undefined}})});
    expect(cache.get(ref('x'))?.spec).toEqual({size: 1, body: undefined});
    expect('managedFields' in (cache.get(ref('x'))?.metadata ?? {})).toBe(false);
  });

  test('a bookmark alone tells that a write of another object has passed', async () => {
    const cache = await open();
    api.skip(100);
    expect(cache.hasSeen(ref('x'), '1100')).toBe(false);
    const waiting = cache.waitFor(ref('x'), '1100', soon);
    await open1(cache);
    api.bookmark();
    expect(await waiting).toBe(true);
  });

  test('what a subscriber throws harms neither the cache nor other subscribers', async () => {
    const cache = await open();
    const got: string[] = [];
    cache.subscribe(() => {
      throw new Error('bad subscriber');
    });
    cache.subscribe((c) => got.push(c.new?.metadata.name ?? ''));
    await seen(cache, put('x'));
    await seen(cache, put('y'));
    expect(got).toEqual(['x', 'y']);
  });
});

describe('ends of watches', () => {
  test.each(['clean', 'break', 'truncate'] as const)(
    'F15 after a %s end the watch goes on from the last version, without a list',
    async (how) => {
      put('x');
      const cache = await open();
      await open1(cache);
      api.endWatches(how);
      api.drop(Widgets, ref('x'));
      expect(await seen(cache, put('y'))).toBe(true);
      expect(cache.list().map((w) => w.metadata.name)).toEqual(['y']);
      expect(changes).toEqual(['- -> uid-1', 'uid-1 -> -', '- -> uid-2']);
      expect(lists()).toBe(1);
    },
  );

  test('F6 410 in the stream lists anew: a delete in the gap is seen, the unchanged stays silent', async () => {
    put('gone');
    put('same');
    const cache = await open();
    await open1(cache);
    changes.length = 0;
    let blocked = true;
    api.fault = () => (blocked ? {status: 503} : undefined);
    api.endWatches('expire');
    api.drop(Widgets, ref('gone'));
    expect(cache.list()).toHaveLength(2);
    blocked = false;
    const last = put('new');
    expect(await seen(cache, last)).toBe(true);
    expect(changes).toEqual(['uid-1 -> -', '- -> uid-3']);
    expect(lists()).toBeGreaterThan(1);
  });

  test('a version that was compacted away leads to a new list', async () => {
    put('x');
    const cache = await open();
    await open1(cache);
    put('y');
    let blocked = true;
    api.fault = () => (blocked ? 'reset' : undefined);
    api.endWatches('break');
    put('z');
    api.compact();
    api.skip(1);
    blocked = false;
    expect(await seen(cache, put('last'))).toBe(true);
    expect(cache.list()).toHaveLength(4);
  });

  test('F17 a name recreated in the gap is a removal of the old uid and an addition of the new one', async () => {
    put('x');
    const cache = await open();
    await open1(cache);
    let blocked = true;
    api.fault = () => (blocked ? 'reset' : undefined);
    api.endWatches('expire');
    api.drop(Widgets, ref('x'));
    const reborn = put('x');
    blocked = false;
    expect(await seen(cache, reborn)).toBe(true);
    expect(changes).toEqual(['- -> uid-1', 'uid-1 -> -', '- -> uid-2']);
  });

  test('F14 a watch that is silent for too long is replaced', async () => {
    const cache = await open({}, {silenceMs: 60});
    const watches = () => api.requests.filter((r) => r.query.get('watch') === 'true').length;
    await cache.waitUntil(() => watches() >= 2 || undefined, soon);
    expect(await seen(cache, put('x'))).toBe(true);
    expect(lists()).toBe(1);
  });

  test('F13 the end of a watch lists anew when the last list is old', async () => {
    put('x');
    const cache = await open({}, {relistMs: 0});
    await open1(cache);
    api.endWatches('clean');
    await seen(cache, put('y'));
    expect(lists()).toBeGreaterThan(1);
    expect(changes).toEqual(['- -> uid-1', '- -> uid-2']);
  });

  test('F43 a kind that is not served yet is waited for', async () => {
    let missing = true;
    api.fault = () => (missing ? {status: 404, body: '404 page not found'} : undefined);
    caches = createCaches({connection: api.connection, log: keptLog(), random: () => 0});
    const cache = caches.add(Widgets);
    caches.start();
    await cache.waitUntil(() => api.requests.length > 2 || undefined, {timeoutMs: 300});
    expect(caches.synced()).toBe(false);
    missing = false;
    expect(await caches.whenSynced(soon)).toBe(true);
  });

  test('delays grow to a bound', () => {
    expect([0, 1, 2, 3, 20].map((n) => reconnectDelay({reason: 'broken'}, n, 0.5))).toEqual([50, 200, 400, 800, 5_000]);
  });

  test.each([
    ['longer than ours: what was asked, and something above it', 4, 1, [4_000, 4_500, 5_000]],
    ['shorter than ours: ours', 1, 5, [1_600, 3_200, 4_800]],
    ['far longer than our bound: it is the server that knows', 60, 9, [60_000, 67_500, 75_000]],
  ])('F9 a Retry-After that is %s', (_name, retryAfterSeconds, failures, delays) => {
    const facts = {status: 429, reason: '', message: '', causes: [], request: 'WATCH widgets', retryAfterSeconds};
    const end = {reason: 'refused', error: new ApiError({...facts, kind: 'Throttled'})} as const;
    expect([0, 0.5, 1].map((random) => reconnectDelay(end, failures, random))).toEqual(delays);
  });
});

describe('waiting', () => {
  test('waitUntil answers at once, after a change, or not at all', async () => {
    put('x', {size: 1});
    const cache = await open();
    const size = () => cache.get(ref('x'))?.spec.size;
    expect(await cache.waitUntil(size, soon)).toBe(1);
    const two = cache.waitUntil(() => (size() === 2 ? 'two' : undefined), {...soon, ref: ref('x')});
    put('x', {size: 2});
    expect(await two).toBe('two');
    expect(await cache.waitUntil(() => undefined, {timeoutMs: 5})).toBeUndefined();
    const aborted = new AbortController();
    const waiting = cache.waitUntil(() => undefined, {...soon, signal: aborted.signal});
    aborted.abort();
    expect(await waiting).toBeUndefined();
  });

  test('what a probe throws reaches its waiter only', async () => {
    const cache = await open();
    const bad = cache.waitUntil(() => {
      if (cache.list().length > 0) throw new Error('bad probe');
      return undefined;
    }, soon);
    const good = cache.waitUntil(() => cache.get(ref('x'))?.metadata.uid, soon);
    put('x');
    await expect(bad).rejects.toThrow('bad probe');
    expect(await good).toBe('uid-1');
  });
});

test('an unknown cache is named, and one is not added twice or late', async () => {
  await open();
  expect(() => caches.of(ConfigMaps)).toThrow('no cache of configmaps');
  expect(() => caches.add(Widgets)).toThrow('cache of widgets.kube.test: add it before start');
});
