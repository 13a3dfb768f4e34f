// Keeps a store equal to the server, for ever:
//
//   no version --(WatchList, or paged list where that is refused or late)--> store replaced --+
//        ^                                                                                   v
//        +-- 410, kind not served, or list older than relistMs -- watch from the version <--+
//                                                                     |                     |
//                                                                     +- any other end -----+  (with backoff)
//
// The store keeps serving its last content all the while.
import type {KubeObject} from '../api/kube-object.ts';
import type {Caller} from './caller.ts';
import {listPages} from './client.ts';
import {type Clock, pause} from './clock.ts';
import type {Connection} from './connection.ts';
import {ApiError} from './errors.ts';
import {NoReply} from './http.ts';
import {collectionPath, type Query, selectionQuery, withQuery} from './path.ts';
import type {KubeMetrics, Listed, Log, Selection} from './ports.ts';
import {type Resource, resourceName} from './resource.ts';
import {reconnectDelay} from './retry.ts';
import type {Store} from './store.ts';
import {asObject, member, text} from './typed.ts';
import {followWatch, type WatchEnd, type WatchEvent} from './watch.ts';

/** Time limits of a reflector, in milliseconds. */
export interface ReflectorTimes {
  /** No byte on a watch for so long = dead; bookmarks come each 60 s and one may be late. */
  readonly silenceMs: number;
  /** List anew at the end of a watch when the last list is older: heals anything missed. */
  readonly relistMs: number;
  /** The initial events of a WatchList must be complete by then, else this one list is read in pages. */
  readonly initialMs: number;
}

/** What a reflector needs. */
export interface ReflectorParts<T extends KubeObject> {
  readonly connection: Connection;
  readonly call: Caller;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: KubeMetrics | undefined;
  readonly random: () => number;
  readonly times: ReflectorTimes;
  readonly resource: Resource<T>;
  readonly selection: Selection;
  readonly store: Store<T>;
  /** Something was seen: version, content or state of the watch. */
  readonly progressed: () => void;
}

/** A running reflector. */
export interface Reflector {
  /** A watch is open. */
  fresh(): boolean;
  /** Milliseconds without an open watch; 0 while there is one. */
  deafMs(): number;
  /** The first whole list is in. */
  synced(): boolean;
  stop(): Promise<void>;
}

interface State {
  version: string | undefined;
  listedAt: number;
  listReason: string;
  /** The server does not know WatchList. */
  watchListRefused: boolean;
  /** The last WatchList was too slow: the next list, and only that, is read in pages. */
  watchListLate: boolean;
  open: boolean;
  /** Since when there is no open watch; of no meaning while there is one. */
  deafSince: number;
  synced: boolean;
  /** Events or bookmarks since the stream was opened. */
  heard: number;
}

/** Start keeping the store up to date. */
export function startReflector<T extends KubeObject>(parts: ReflectorParts<T>): Reflector {
  const stopping = new AbortController();
  const state: State = {
    version: undefined,
    listedAt: Number.NEGATIVE_INFINITY,
    listReason: 'start',
    watchListRefused: false,
    watchListLate: false,
    open: false,
    deafSince: parts.clock.monotonic(),
    synced: false,
    heard: 0,
  };
  const running = run(parts, state, stopping.signal);
  return {
    fresh: () => state.open,
    deafMs: () => (state.open ? 0 : parts.clock.monotonic() - state.deafSince),
    synced: () => state.synced,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

const STABLE_MS = 10_000;

async function run<T extends KubeObject>(parts: ReflectorParts<T>, state: State, signal: AbortSignal): Promise<void> {
  const {clock, log} = parts;
  const resource = resourceName(parts.resource);
  let failures = 0;
  let expired = false;
  while (!signal.aborted) {
    const began = clock.monotonic();
    state.heard = 0;
    const end = await once(parts, state, signal);
    setOpen(parts, state, false);
    parts.progressed();
    if (signal.aborted) return;
    const stable = clock.monotonic() - began >= STABLE_MS;
    failures = stable || (state.heard > 0 && end.reason === 'clean') ? 0 : failures + 1;
    // The server has just answered: after its own restart it says this of every version, once.
    if (end.reason === 'expired') failures = expired ? failures : 1;
    expired = end.reason === 'expired';
    parts.metrics?.watchEnd(resource, end.reason);
    forget(parts, state, end);
    if (end.reason === 'refused' && end.error.kind === 'Unauthorized') rereadToken(parts);
    const delay = reconnectDelay(end, failures, parts.random());
    const error = end.reason === 'refused' ? end.error.message : undefined;
    const fields = {resource, reason: end.reason, failures, delayMs: Math.round(delay), error};
    if (failures > 3) log.warn(fields, 'watch ended again');
    else log.debug(fields, 'watch ended');
    await pause(clock, delay, signal);
  }
}

// What the end says about the version we hold.
function forget<T extends KubeObject>(parts: ReflectorParts<T>, state: State, end: WatchEnd): void {
  const drop = (reason: string) => {
    state.version = undefined;
    state.listReason = reason;
  };
  if (end.reason === 'expired') drop('expired');
  else if (end.reason === 'refused' && end.error.kind === 'NotServed') drop('kind was missing');
  else if (parts.clock.monotonic() - state.listedAt >= parts.times.relistMs) drop('periodic');
}

// The kubelet may have swapped the token since it was last read.
function rereadToken<T extends KubeObject>({connection, log, resource}: ReflectorParts<T>): void {
  try {
    connection.credentials(true);
  } catch (error) {
    log.warn({resource: resourceName(resource), err: error}, 'token not readable');
  }
}

async function once<T extends KubeObject>(
  parts: ReflectorParts<T>,
  state: State,
  signal: AbortSignal,
): Promise<WatchEnd> {
  try {
    const paged = state.watchListRefused || state.watchListLate;
    if (state.version === undefined && !paged) return await watchList(parts, state, signal);
    if (state.version === undefined) {
      state.watchListLate = false;
      const {resource, selection} = parts;
      const all = await listPages(parts.call, resource, {selection, options: {signal, timeoutMs: 120_000}});
      replaced(parts, state, {...all, following: false});
    }
    const follower = (event: WatchEvent) => follow(parts, state, event);
    return await stream(parts, state, {signal, query: {resourceVersion: state.version}, event: follower});
  } catch (error) {
    if (signal.aborted) return {reason: 'stopped'};
    if (error instanceof ApiError) return {reason: 'refused', error};
    if (error instanceof NoReply) return {reason: 'broken'};
    // Nothing of an object may stop the copy: a fault of ours is logged and tried again, slower each time.
    parts.log.error({resource: resourceName(parts.resource), err: error}, 'reflector failed');
    return {reason: 'unreadable'};
  }
}

async function watchList<T extends KubeObject>(
  parts: ReflectorParts<T>,
  state: State,
  signal: AbortSignal,
): Promise<WatchEnd> {
  const initial = new Map<string, T>();
  const late = new AbortController();
  const cancel = parts.clock.after(parts.times.initialMs, () => late.abort());
  let complete = false;
  const event = (seen: WatchEvent) => {
    if (complete) return follow(parts, state, seen);
    state.heard++;
    if (isInitialEnd(seen)) {
      complete = true;
      cancel();
      replaced(parts, state, {items: [...initial.values()], resourceVersion: versionOf(seen), following: true});
      return;
    }
    const object = asObject(parts.resource, seen.object);
    if (object === undefined) return;
    if (seen.type === 'DELETED') initial.delete(object.metadata.uid);
    else if (seen.type !== 'BOOKMARK') initial.set(object.metadata.uid, object);
  };
  const query = {sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan'};
  try {
    const end = await stream(parts, state, {signal: AbortSignal.any([signal, late.signal]), query, event});
    if (end.reason === 'refused' && end.error.kind === 'Invalid') refusedWatchList(parts, state);
    return end;
  } finally {
    cancel();
    if (late.signal.aborted && !signal.aborted && !complete) lateWatchList(parts, state);
  }
}

function refusedWatchList<T extends KubeObject>({log, resource}: ReflectorParts<T>, state: State): void {
  state.watchListRefused = true;
  log.info({resource: resourceName(resource)}, 'the server has no WatchList: lists are paged');
}

// A slow moment of the server says nothing about the next list.
function lateWatchList<T extends KubeObject>({log, resource, times}: ReflectorParts<T>, state: State): void {
  state.watchListLate = true;
  const fields = {resource: resourceName(resource), limitMs: times.initialMs};
  log.warn(fields, 'the WatchList was not complete in time: this once the list is paged');
}

async function stream<T extends KubeObject>(
  parts: ReflectorParts<T>,
  state: State,
  watch: {signal: AbortSignal; query: Query; event: (event: WatchEvent) => void},
): Promise<WatchEnd> {
  const {resource, selection} = parts;
  // Watches of many clients must not end all at once.
  const timeoutSeconds = Math.round(300 * (1 + parts.random()));
  const query = {...selectionQuery(selection), ...watch.query, watch: true, allowWatchBookmarks: true, timeoutSeconds};
  return followWatch({
    connection: parts.connection,
    clock: parts.clock,
    log: parts.log,
    path: withQuery(collectionPath(resource, selection.namespace), query),
    name: resourceName(resource),
    signal: watch.signal,
    silenceMs: parts.times.silenceMs,
    opened() {
      if (state.version !== undefined) setOpen(parts, state, true);
      parts.progressed();
    },
    event: watch.event,
  });
}

function replaced<T extends KubeObject>(
  parts: ReflectorParts<T>,
  state: State,
  {items, resourceVersion, following}: Listed<T> & {following: boolean},
): void {
  parts.store.replace(items, resourceVersion);
  parts.metrics?.relist(resourceName(parts.resource), state.listReason);
  state.version = resourceVersion;
  state.listedAt = parts.clock.monotonic();
  state.synced = true;
  // A WatchList goes on as the watch; after a paged list it has yet to be opened.
  setOpen(parts, state, following);
  parts.progressed();
}

function setOpen({clock}: Pick<ReflectorParts<KubeObject>, 'clock'>, state: State, open: boolean): void {
  if (state.open && !open) state.deafSince = clock.monotonic();
  state.open = open;
}

function follow<T extends KubeObject>(parts: ReflectorParts<T>, state: State, event: WatchEvent): void {
  state.heard++;
  const version = versionOf(event);
  if (event.type === 'BOOKMARK') {
    if (version !== '') parts.store.advance(version);
  } else {
    const object = asObject(parts.resource, event.object);
    if (object === undefined || version === '') return;
    if (event.type === 'DELETED') parts.store.remove(object);
    else parts.store.upsert(object);
  }
  state.version = parts.store.version();
  parts.progressed();
}

function versionOf(event: WatchEvent): string {
  return text(member(event.object, 'metadata'), 'resourceVersion');
}

function isInitialEnd(event: WatchEvent): boolean {
  if (event.type !== 'BOOKMARK') return false;
  const annotations = member(member(event.object, 'metadata'), 'annotations');
  return annotations['k8s.io/initial-events-end'] === 'true';
}
