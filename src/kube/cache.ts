import type {KubeObject} from '../api/kube-object.ts';
import {type Caller, createCaller} from './caller.ts';
import {type Clock, systemClock} from './clock.ts';
import type {Connection} from './connection.ts';
import {refKey} from './path.ts';
import type {Cache, CacheOptions, Caches, Change, KubeMetrics, Log} from './ports.ts';
import {type Reflector, type ReflectorTimes, startReflector} from './reflector.ts';
import {type Resource, resourceName} from './resource.ts';
import {createStore} from './store.ts';
import {sameResource} from './typed.ts';
import {compareVersions} from './version.ts';
import {createWaiters} from './waiters.ts';

/** What caches are made of. */
export interface CachesParts {
  readonly connection: Connection;
  readonly log: Log;
  readonly clock?: Clock;
  readonly metrics?: KubeMetrics;
  readonly random?: () => number;
  readonly times?: Partial<ReflectorTimes>;
}

const TIMES: ReflectorTimes = {silenceMs: 150_000, relistMs: 600_000, initialMs: 60_000};

interface RunnableCache<T extends KubeObject> extends Cache<T> {
  start(): void;
  stop(): Promise<void>;
}

interface Shared {
  readonly parts: CachesParts;
  readonly clock: Clock;
  readonly call: Caller;
}

/** All caches of a process over one connection: add resources, then start. */
export function createCaches(parts: CachesParts): Caches {
  const {connection, log, metrics, random} = parts;
  const clock = parts.clock ?? systemClock;
  const call = createCaller({connection, clock, log, metrics, random});
  const caches = new Map<string, RunnableCache<KubeObject>>();
  let started = false;
  const find = <T extends KubeObject>(resource: Resource<T>): Cache<T> | undefined =>
    sameResource(resource, caches.get(resourceName(resource)));
  return {
    add<T extends KubeObject>(resource: Resource<T>, options: CacheOptions<T> = {}) {
      const name = resourceName(resource);
      if (started) throw new Error(`cache of ${name}: add it before start`);
      if (caches.has(name)) throw new Error(`cache of ${name}: added twice`);
      const cache = createCache({parts, clock, call}, resource, options);
      caches.set(name, cache);
      return cache;
    },
    find,
    of(resource) {
      const found = find(resource);
      if (found === undefined)
        throw new Error(`no cache of ${resourceName(resource)}: add it where the process is composed`);
      return found;
    },
    start() {
      started = true;
      for (const cache of caches.values()) cache.start();
    },
    synced: () => [...caches.values()].every((cache) => cache.synced()),
    async whenSynced(options) {
      const all = await Promise.all([...caches.values()].map((cache) => cache.whenSynced(options)));
      return all.every(Boolean);
    },
    async stop() {
      await Promise.all([...caches.values()].map((cache) => cache.stop()));
    },
  };
}

function createCache<T extends KubeObject>(
  shared: Shared,
  resource: Resource<T>,
  options: CacheOptions<T>,
): RunnableCache<T> {
  const {clock, call, parts} = shared;
  const {prune, indexes, ...selection} = options;
  const name = resourceName(resource);
  const waiters = createWaiters(clock);
  const listeners = new Set<(change: Change<T>) => void>();
  const broken = (error: unknown, what: string, key: string) =>
    parts.log.error({resource: name, key, what, err: error}, 'cache: a function failed for one object');
  const changed = (change: Change<T>, key: string) => {
    for (const listener of [...listeners]) {
      try {
        listener(change);
      } catch (error) {
        broken(error, 'subscriber', key);
      }
    }
    waiters.touch(key);
  };
  const store = createStore<T>({prune, indexes, changed, broken});
  let reflector: Reflector | undefined;
  const hasSeen = (version: string) => {
    const seen = store.version();
    return seen !== undefined && compareVersions(seen, version) >= 0;
  };
  const synced = () => reflector?.synced() === true;
  return {
    resource,
    get: store.get,
    list: store.list,
    byIndex: store.byIndex,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    synced,
    fresh: () => reflector?.fresh() === true,
    hasSeen: (_ref, version) => hasSeen(version),
    whenSynced: async (wait) => (await waiters.until(() => synced() || undefined, wait)) === true,
    waitFor: async (_ref, version, wait) => (await waiters.until(() => hasSeen(version) || undefined, wait)) === true,
    waitUntil: (probe, {ref, ...wait}) =>
      waiters.until(probe, {...wait, key: ref === undefined ? undefined : refKey(ref)}),
    start() {
      reflector ??= startReflector({
        connection: parts.connection,
        call,
        clock,
        log: parts.log,
        metrics: parts.metrics,
        random: parts.random ?? Math.random,
        times: {...TIMES, ...parts.times},
        resource,
        selection,
        store,
        progressed() {
          parts.metrics?.cacheSize(name, store.size());
          waiters.touch();
        },
      });
    },
    async stop() {
      waiters.close();
      await reflector?.stop();
    },
  };
}
