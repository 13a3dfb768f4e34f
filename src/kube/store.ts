import type {KubeObject, ObjectRef} from '../api/kube-object.ts';
import {compareVersions} from '../api/version.ts';
import {refKey} from './path.ts';
import type {Change} from './ports.ts';
import {laterVersion} from './version.ts';

/** How a store is kept. */
export interface StoreParts<T extends KubeObject> {
  readonly prune?: ((object: T) => T) | undefined;
  readonly indexes?: Readonly<Record<string, (object: T) => readonly string[]>> | undefined;
  /** Called after each change of the store, in order. Must not throw. */
  readonly changed: (change: Change<T>, key: string) => void;
  /** A prune or index function threw: one bad object must not stop the rest. */
  readonly broken: (error: unknown, what: string, key: string) => void;
}

/** Objects of one resource by `namespace/name`, with indexes. */
export interface Store<T extends KubeObject> {
  get(ref: ObjectRef): T | undefined;
  list(namespace?: string): readonly T[];
  byIndex(index: string, key: string): readonly T[];
  size(): number;
  /** The newest resourceVersion that everything up to has been seen of; undefined before the first list. */
  version(): string | undefined;
  /** An object as a watch event shows it. */
  upsert(object: T): void;
  /** An object that left. */
  remove(object: T): void;
  /** Everything that exists at this version: what is missing here is removed, by UID. */
  replace(objects: readonly T[], version: string): void;
  /** Nothing before this version is still to come. */
  advance(version: string): void;
}

// Enough to outlive any duplicate of a late event; 10,000 short strings.
const GRAVES = 10_000;

/** Make an empty store. Level-based: doubled, late or reordered events of one object change nothing. */
export function createStore<T extends KubeObject>(parts: StoreParts<T>): Store<T> {
  return new ObjectStore(parts);
}

class ObjectStore<T extends KubeObject> implements Store<T> {
  readonly #parts: StoreParts<T>;
  readonly #objects = new Map<string, T>();
  readonly #namespaces = createIndex<T>();
  readonly #indexes: ReadonlyMap<string, Index<T>>;
  /** uid -> version at which it left. */
  readonly #graves = new Map<string, string>();
  #version: string | undefined;

  constructor(parts: StoreParts<T>) {
    this.#parts = parts;
    this.#indexes = new Map(Object.keys(parts.indexes ?? {}).map((name) => [name, createIndex<T>()]));
  }

  get(ref: ObjectRef): T | undefined {
    return this.#objects.get(refKey(ref));
  }

  list(namespace?: string): readonly T[] {
    return namespace === undefined ? [...this.#objects.values()] : this.#namespaces.get(namespace);
  }

  byIndex(name: string, key: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) {
      throw new Error(`no index "${name}"; there are: ${[...this.#indexes.keys()].join(', ') || 'none'}`);
    }
    return index.get(key);
  }

  size(): number {
    return this.#objects.size;
  }

  version(): string | undefined {
    return this.#version;
  }

  upsert(object: T): void {
    this.#put(object);
    this.advance(object.metadata.resourceVersion);
  }

  remove({metadata}: T): void {
    const key = refKey(metadata);
    const old = this.#objects.get(key);
    const current = old !== undefined && old.metadata.uid === metadata.uid;
    const late = current && compareVersions(metadata.resourceVersion, old.metadata.resourceVersion) < 0;
    if (current && !late) this.#drop(key, old, metadata.resourceVersion);
    else if (!late) bury(this.#graves, metadata.uid, metadata.resourceVersion);
    this.advance(metadata.resourceVersion);
  }

  replace(all: readonly T[], version: string): void {
    // A server that lags behind what was already seen may not bring the past back.
    if (this.#version !== undefined && compareVersions(version, this.#version) < 0) return;
    const uids = new Set(all.map((object) => object.metadata.uid));
    for (const [key, object] of [...this.#objects])
      if (!uids.has(object.metadata.uid)) this.#drop(key, object, version);
    for (const object of all) this.#put(object);
    this.#version = version;
  }

  advance(version: string): void {
    this.#version = laterVersion(this.#version, version);
  }

  #put(incoming: T): void {
    const key = refKey(incoming.metadata);
    const {resourceVersion, uid} = incoming.metadata;
    const old = this.#objects.get(key);
    const grave = this.#graves.get(uid);
    if (grave !== undefined && compareVersions(resourceVersion, grave) <= 0) return;
    if (old !== undefined && compareVersions(resourceVersion, old.metadata.resourceVersion) <= 0) return;
    const object = this.#prune(incoming, key);
    const same = old === undefined || old.metadata.uid === uid;
    // A recreated name is two changes, so that nobody takes the new object for the old one.
    if (!same) this.#drop(key, old, old.metadata.resourceVersion);
    this.#objects.set(key, object);
    this.#namespaces.put(key, [object.metadata.namespace ?? ''], object);
    for (const [name, index] of this.#indexes) index.put(key, this.#keysOf(name, object, key), object);
    this.#parts.changed({old: same ? old : undefined, new: object}, key);
  }

  #drop(key: string, object: T, version: string): void {
    this.#objects.delete(key);
    this.#namespaces.drop(key);
    for (const index of this.#indexes.values()) index.drop(key);
    bury(this.#graves, object.metadata.uid, version);
    this.#parts.changed({old: object, new: undefined}, key);
  }

  #keysOf(name: string, object: T, key: string): readonly string[] {
    try {
      return this.#parts.indexes?.[name]?.(object) ?? [];
    } catch (error) {
      this.#parts.broken(error, `index ${name}`, key);
      return [];
    }
  }

  #prune(object: T, key: string): T {
    try {
      return this.#parts.prune?.(object) ?? object;
    } catch (error) {
      this.#parts.broken(error, 'prune', key);
      return object;
    }
  }
}

function bury(graves: Map<string, string>, uid: string, at: string): void {
  graves.set(uid, at);
  if (graves.size <= GRAVES) return;
  const oldest = graves.keys().next();
  if (oldest.done !== true) graves.delete(oldest.value);
}

interface Index<T> {
  get(value: string): readonly T[];
  put(key: string, values: readonly string[], object: T): void;
  drop(key: string): void;
}

function createIndex<T>(): Index<T> {
  const byValue = new Map<string, Map<string, T>>();
  const valuesOf = new Map<string, readonly string[]>();
  const drop = (key: string) => {
    for (const value of valuesOf.get(key) ?? []) {
      const found = byValue.get(value);
      found?.delete(key);
      if (found?.size === 0) byValue.delete(value);
    }
    valuesOf.delete(key);
  };
  return {
    get: (value) => [...(byValue.get(value)?.values() ?? [])],
    put(key, values, object) {
      drop(key);
      if (values.length > 0) valuesOf.set(key, values);
      for (const value of values) {
        const found = byValue.get(value);
        if (found === undefined) byValue.set(value, new Map([[key, object]]));
        else found.set(key, object);
      }
    },
    drop,
  };
}
