// What the small API server of the unit tests stores, and whom it tells.
import type {ServerResponse} from 'node:http';
import type {Json} from '../../src/api/json.ts';
import {member, text} from '../../src/kube/typed.ts';

interface Stored {
  readonly collection: string;
  readonly json: Json;
}
interface LogEntry {
  readonly version: number;
  readonly collection: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly json: Json;
}
/** An open watch. */
export interface Watcher {
  readonly collection: string;
  readonly namespace: string | undefined;
  readonly response: ServerResponse;
}

/** An empty world at version 1000. */
export function createWorld() {
  const objects = new Map<string, Stored>();
  const log: LogEntry[] = [];
  const watchers = new Set<Watcher>();
  let uids = 0;
  const held: {entries: LogEntry[] | undefined} = {entries: undefined};
  const show = (entry: LogEntry) => {
    for (const watcher of watchers) if (matches(watcher, entry)) line(watcher.response, entry.type, entry.json);
  };
  const emit = (entry: LogEntry) => {
    log.push(entry);
    if (held.entries === undefined) show(entry);
    else held.entries.push(entry);
  };
  const world = {
    objects,
    log,
    watchers,
    version: 1000,
    oldest: 0,
    all: (collection: string): Json[] =>
      [...objects.values()].filter((stored) => stored.collection === collection).map((stored) => stored.json),
    store(key: string, json: Json, collection: string): Json {
      const old = objects.get(key);
      const version = ++world.version;
      const metadata = {
        uid: `uid-${++uids}`,
        creationTimestamp: '2026-01-01T00:00:00Z',
        generation: 1,
        ...member(json, 'metadata'),
        resourceVersion: String(version),
        managedFields: [{manager: 'fake'}],
      };
      const stored = {...json, metadata};
      objects.set(key, {collection, json: stored});
      emit({version, collection, type: old === undefined ? 'ADDED' : 'MODIFIED', json: stored});
      return stored;
    },
    remove(key: string): Json | undefined {
      const old = objects.get(key);
      if (old === undefined) return undefined;
      objects.delete(key);
      const version = ++world.version;
      const json = {...old.json, metadata: {...member(old.json, 'metadata'), resourceVersion: String(version)}};
      emit({version, collection: old.collection, type: 'DELETED', json});
      return json;
    },
    hold() {
      held.entries ??= [];
    },
    release() {
      const entries = held.entries ?? [];
      held.entries = undefined;
      for (const entry of entries) show(entry);
    },
    bookmark() {
      for (const {response} of watchers) line(response, 'BOOKMARK', bookmarkAt(world.version));
    },
    endWatches(how: 'clean' | 'break' | 'expire' | 'truncate') {
      for (const watcher of watchers) {
        watchers.delete(watcher);
        if (how === 'break') watcher.response.destroy();
        else if (how === 'truncate') watcher.response.write('{"type":"ADDED","obj', () => watcher.response.destroy());
        else {
          if (how === 'expire')
            line(watcher.response, 'ERROR', status(410, 'Expired', 'too old resource version: 1 (2)'));
          watcher.response.end();
        }
      }
    },
  };
  return world;
}
/** Objects, their history and their watchers. */
export type World = ReturnType<typeof createWorld>;

/** True when this watch shows that entry. */
export function matches(watcher: Omit<Watcher, 'response'>, entry: Pick<LogEntry, 'collection' | 'json'>): boolean {
  if (watcher.collection !== entry.collection) return false;
  return watcher.namespace === undefined || text(member(entry.json, 'metadata'), 'namespace') === watcher.namespace;
}

/** Send one event of a watch. */
export function line(response: ServerResponse, type: string, object: unknown): void {
  response.write(`${JSON.stringify({type, object})}\n`);
}

/** The object of a bookmark. */
export function bookmarkAt(version: number) {
  return {metadata: {resourceVersion: String(version)}};
}

/** A Status object, as refusals carry it. */
export function status(code: number, reason: string, message: string, details: object = {}): object {
  return {kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details};
}
