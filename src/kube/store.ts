import type {KubeObject, ObjectRef} from '../api/kube-object.ts';
import {refKey} from './path.ts';
import type {Change} from './ports.ts';
import {compareVersions, laterVersion} from './version.ts';

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
  const objects = new Map<string, T>();
  const namespaces = createIndex<T>();
  const indexes = new Map(Object.keys(parts.indexes ?? {}).map((name) => [name, createIndex<T>()]));
  const graves = new Map<string, string>();
  let version: string | undefined;

  const keysOf = (name: string, object: T, key: string): readonly string[] => {
    try {
      return parts.indexes?.[name]?.(object) ?? [];
    } catch (error) {
      parts.broken(error, `index ${name}`, key);
      return [];
    }
  };
  const prune = (object: T, key: string): T => {
    try {
      return parts.prune?.(object) ?? object;
    } catch (error) {
      parts.broken(error, 'prune', key);
      return object;
    }
  };
  const put = (key: string, object: T) => {
    objects.set(key, object);
    namespaces.put(key, [object.metadata.namespace ?? ''], object);
    for (const [name, index] of indexes) index.put(key, keysOf(name, object, key), object);
  };
  const drop = (key: string, object: T, at: string) => {
    objects.delete(key);
    namespaces.drop(key);
    for (const index of indexes.values()) index.drop(key);
    bury(graves, object.metadata.uid, at);
    parts.changed({old: object, new: undefined}, key);
  };
  const upsert = (incoming: T) => {
    const key = refKey(incoming.metadata);
    const {resourceVersion, uid} = incoming.metadata;
    const old = objects.get(key);
    const grave = graves.get(uid);
    if (grave !== undefined && compareVersions(resourceVersion, grave) <= 0) return;
    if (old !== undefined && compareVersions(resourceVersion, old.metadata.resourceVersion) <= 0) return;
    const object = prune(incoming, key);
    const same = old === undefined || old.metadata.uid === uid;
    // A recreated name is two changes, so that nobody takes the new object for the old one.
    if (!same) drop(key, old, old.metadata.resourceVersion);
    put(key, object);
    parts.changed({old: same ? old : undefined, new: object}, key);
  };
  return {
    get: (ref) => objects.get(refKey(ref)),
    list: (namespace) => (namespace === undefined ? [...objects.values()] : namespaces.get(namespace)),
    byIndex(name, key) {
      const index = indexes.get(name);
      if (index === undefined)
        throw new Error(`no index "${name}"; there are: ${[...indexes.keys()].join(', ') || 'none'}`);
      return index.get(key);
    },
    size: () => objects.size,
    version: () => version,
    upsert(object) {
      upsert(object);
      version = laterVersion(version, object.metadata.resourceVersion);
    },
    remove({metadata}) {
      const key = refKey(metadata);
      const old = objects.get(key);
      const current = old !== undefined && old.metadata.uid === metadata.uid;
      const late = current && compareVersions(metadata.resourceVersion, old.metadata.resourceVersion) < 0;
      if (current && !late) drop(key, old, metadata.resourceVersion);
      else if (!late) bury(graves, metadata.uid, metadata.resourceVersion);
      version = laterVersion(version, metadata.resourceVersion);
    },
    replace(all, at) {
      // A server that lags behind what was already seen may not bring the past back.
      if (version !== undefined && compareVersions(at, version) < 0) return;
      const uids = new Set(all.map((object) => object.metadata.uid));
      for (const [key, object] of [...objects]) if (!uids.has(object.metadata.uid)) drop(key, object, at);
      for (const object of all) upsert(object);
      version = at;
    },
    advance(at) {
      version = laterVersion(version, at);
    },
  };
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
