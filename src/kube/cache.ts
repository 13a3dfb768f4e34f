import type {KubeObject, ObjectRef} from '../api/kube-object.ts';
import {compareVersions} from '../api/version.ts';
import {type Caller, createCaller} from './caller.ts';
import {type Clock, systemClock} from './clock.ts';
import type {Connection} from './connection.ts';
import {refKey} from './path.ts';
import type {Cache, CacheOptions, Caches, Change, KubeMetrics, Log, Selection, WaitOptions} from './ports.ts';
import {type Reflector, type ReflectorTimes, startReflector} from './reflector.ts';
import {type Resource, resourceName} from './resource.ts';
import {createStore, type Store} from './store.ts';
import {sameResource} from './typed.ts';
import {createWaiters, type Waiters} from './waiters.ts';

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

/** What the registry needs of a cache of any type. */
type RunnableCache = Pick<ResourceCache<KubeObject>, 'start' | 'stop' | 'synced' | 'deafMs' | 'whenSynced'>;

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
  const caches = new Map<string, RunnableCache>();
  let started = false;
  const find = <T extends KubeObject>(resource: Resource<T>): Cache<T> | undefined =>
    sameResource(resource, caches.get(resourceName(resource)));
  return {
    add<T extends KubeObject>(resource: Resource<T>, options: CacheOptions<T> = {}) {
      const name = resourceName(resource);
      if (started) throw new Error(`cache of ${name}: add it before start`);
      if (caches.has(name)) throw new Error(`cache of ${name}: added twice`);
      const cache = new ResourceCache({parts, clock, call}, resource, options);
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
    deafMs: () => Math.min(...[...caches.values()].map((cache) => cache.deafMs())),
    async whenSynced(options) {
      const all = await Promise.all([...caches.values()].map((cache) => cache.whenSynced(options)));
      return all.every(Boolean);
    },
    async stop() {
      await Promise.all([...caches.values()].map((cache) => cache.stop()));
    },
  };
}

class ResourceCache<T extends KubeObject> implements Cache<T> {
  readonly resource: Resource<T>;
  readonly #shared: Shared;
  readonly #selection: Selection;
  readonly #name: string;
  readonly #store: Store<T>;
  readonly #waiters: Waiters;
  readonly #listeners = new Set<(change: Change<T>) => void>();
  #reflector: Reflector | undefined;

  constructor(shared: Shared, resource: Resource<T>, options: CacheOptions<T>) {
    const {prune, indexes, ...selection} = options;
    this.resource = resource;
    this.#shared = shared;
    this.#selection = selection;
    this.#name = resourceName(resource);
    this.#waiters = createWaiters(shared.clock);
    const changed = (change: Change<T>, key: string) => this.#changed(change, key);
    const broken = (error: unknown, what: string, key: string) => this.#broken(error, what, key);
    this.#store = createStore<T>({prune, indexes, changed, broken});
  }

  get(ref: ObjectRef): T | undefined {
    return this.#store.get(ref);
  }

  list(namespace?: string): readonly T[] {
    return this.#store.list(namespace);
  }

  byIndex(index: string, key: string): readonly T[] {
    return this.#store.byIndex(index, key);
  }

  subscribe(listener: (change: Change<T>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  synced(): boolean {
    return this.#reflector?.synced() === true;
  }

  fresh(): boolean {
    return this.#reflector?.fresh() === true;
  }

  deafMs(): number {
    return this.#reflector?.deafMs() ?? Number.POSITIVE_INFINITY;
  }

  hasSeen(_ref: ObjectRef, resourceVersion: string): boolean {
    const seen = this.#store.version();
    return this.synced() && seen !== undefined && compareVersions(seen, resourceVersion) >= 0;
  }

  async whenSynced(options: WaitOptions): Promise<boolean> {
    return (await this.#waiters.until(() => this.synced() || undefined, options)) === true;
  }

  async waitFor(ref: ObjectRef, resourceVersion: string, options: WaitOptions): Promise<boolean> {
    return (await this.#waiters.until(() => this.hasSeen(ref, resourceVersion) || undefined, options)) === true;
  }

  waitUntil<R>(
    probe: () => R | undefined,
    options: WaitOptions & {ref?: ObjectRef | undefined},
  ): Promise<R | undefined> {
    const {ref, ...wait} = options;
    return this.#waiters.until(probe, {...wait, key: ref === undefined ? undefined : refKey(ref)});
  }

  start(): void {
    const {parts, clock, call} = this.#shared;
    this.#reflector ??= startReflector({
      ...parts,
      call,
      clock,
      random: parts.random ?? Math.random,
      times: {...TIMES, ...parts.times},
      resource: this.resource,
      selection: this.#selection,
      store: this.#store,
      progressed: () => {
        parts.metrics?.cacheSize(this.#name, this.#store.size());
        this.#waiters.touch();
      },
    });
  }

  async stop(): Promise<void> {
    this.#waiters.close();
    await this.#reflector?.stop();
  }

  #changed(change: Change<T>, key: string): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(change);
      } catch (error) {
        this.#broken(error, 'subscriber', key);
      }
    }
    this.#waiters.touch(key);
  }

  #broken(error: unknown, what: string, key: string): void {
    const fields = {resource: this.#name, key, what, err: error};
    this.#shared.parts.log.error(fields, 'cache: a function failed for one object');
  }
}
