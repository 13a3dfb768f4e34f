import {createHash} from 'node:crypto';
import type {KubeEvent, ObjectReference} from '../api/kube-core.ts';
import type {KubeObject, Manifest} from '../api/kube-object.ts';
import {Events} from './builtin.ts';
import {type Clock, pause, systemClock} from './clock.ts';
import {isApiError} from './errors.ts';
import type {Client, EventNote, KubeMetrics, Log, Recorder} from './ports.ts';
import {createWaiters} from './waiters.ts';

/** What a recorder is made of. */
export interface RecorderParts {
  readonly client: Pick<Client, 'create' | 'patchJson' | 'find'>;
  /** `carrel.dev/controller`: who reports. */
  readonly controller: string;
  /** The pod's name: which replica reports. */
  readonly instance: string;
  readonly log: Log;
  readonly clock?: Clock;
  readonly metrics?: KubeMetrics;
}

interface Series {
  /** Set once the Event is stored. */
  uid: string | undefined;
  /** Times seen, those included that were not written one by one. */
  count: number;
  patchedAt: number;
}

interface Job {
  readonly key: string;
  readonly event: EventNote;
  readonly at: Date;
}

const QUEUE = 1_000;
const SERIES = 4_096;
const NOTE = 1_024;
// A repeat within this time is only counted: one write says as much.
const REPEAT_MS = 60_000;
// Per object: a burst, then one each half minute; a broken object must not flood the event store.
const BURST = 25;
const REFILL_MS = 30_000;

/** Start a recorder: one Event per (object, type, reason, action, note), repeats counted in its series. */
export function createRecorder(parts: RecorderParts): Recorder {
  const clock = parts.clock ?? systemClock;
  const jobs = new Map<string, Job>();
  const series = new Map<string, Series>();
  const allow = createAllowance(clock);
  const waiters = createWaiters(clock);
  let busy = false;

  const drop = (event: EventNote, why: string) => {
    parts.metrics?.eventDropped();
    parts.log.debug({reason: event.reason, name: event.regarding.metadata.name, why}, 'event dropped');
  };
  const drain = async () => {
    if (busy) return;
    busy = true;
    for (let next = jobs.values().next(); next.done !== true; next = jobs.values().next()) {
      jobs.delete(next.value.key);
      await write(next.value);
    }
    busy = false;
    waiters.touch();
  };
  const write = async (job: Job) => {
    try {
      await store(parts, clock, {job, known: entry(series, job.key)});
    } catch (error) {
      // With its namespace goes whoever could read it.
      if (isApiError(error, 'NamespaceTerminating', 'NamespaceNotFound')) return drop(job.event, 'namespace gone');
      parts.metrics?.eventDropped();
      parts.log.warn({reason: job.event.reason, err: error}, 'event not written');
      if (isApiError(error, 'Unavailable', 'Throttled')) await pause(clock, 1_000);
    }
  };
  return {
    record(event) {
      try {
        const key = keyOf(event);
        const known = entry(series, key);
        const now = clock.now();
        known.count++;
        if (known.count > 1 && now - known.patchedAt < REPEAT_MS) return;
        if (!allow(event.regarding.metadata.uid)) return drop(event, 'too many about this object');
        if (jobs.size >= QUEUE) return drop(event, 'queue full');
        known.patchedAt = now;
        jobs.set(key, {key, event, at: new Date(now)});
        void drain();
      } catch (error) {
        parts.log.warn({err: error}, 'event not recorded');
      }
    },
    async flush(options) {
      await waiters.until(() => (busy || jobs.size > 0 ? undefined : true), options);
    },
  };
}

async function store(parts: RecorderParts, clock: Clock, {job, known}: {job: Job; known: Series}): Promise<void> {
  const manifest = manifestOf(parts, job);
  const ref = {namespace: manifest.metadata.namespace, name: manifest.metadata.name};
  if (known.uid === undefined) {
    try {
      known.uid = (await parts.client.create(Events, manifest)).metadata.uid;
      return;
    } catch (error) {
      if (!isApiError(error, 'AlreadyExists')) throw error;
    }
    // Written by the process before us, or by a create whose answer was lost: count on from there.
    const stored = await parts.client.find(Events, ref);
    if (stored === undefined) return;
    known.uid = stored.metadata.uid;
    known.count += stored.series?.count ?? 1;
  }
  const value = {count: known.count, lastObservedTime: microTime(clock.now())};
  try {
    await parts.client.patchJson(Events, ref, {uid: known.uid, ops: [{op: 'add', path: '/series', value}]});
  } catch (error) {
    // Events live an hour: the next repeat starts a new one.
    if (!isApiError(error, 'NotFound', 'TestFailed')) throw error;
    known.uid = undefined;
    known.count = 0;
    known.patchedAt = 0;
  }
}

function manifestOf({controller, instance}: RecorderParts, {key, event, at}: Job): Manifest<KubeEvent> {
  const {name, namespace} = event.regarding.metadata;
  return {
    metadata: {name: `${name.slice(0, 200)}.${key}`, namespace: namespace ?? 'default'},
    eventTime: microTime(at.getTime()),
    type: event.type,
    reason: event.reason,
    action: event.action,
    note: shorten(event.note),
    reportingController: controller,
    reportingInstance: instance.slice(0, 128),
    regarding: referenceTo(event.regarding),
    ...(event.related === undefined ? {} : {related: referenceTo(event.related)}),
  };
}

function referenceTo({apiVersion, kind, metadata}: KubeObject): ObjectReference {
  const {namespace, name, uid, resourceVersion} = metadata;
  return {apiVersion, kind, namespace, name, uid, resourceVersion};
}

function keyOf({regarding, type, reason, action, note, related}: EventNote): string {
  const parts = [regarding.metadata.uid, type, reason, action, shorten(note), related?.metadata.uid ?? ''];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

function shorten(note: string): string {
  return note.length <= NOTE ? note : `${note.slice(0, NOTE - 3).toWellFormed()}...`;
}

function microTime(at: number): string {
  return new Date(at).toISOString().replace('Z', '000Z');
}

function entry(series: Map<string, Series>, key: string): Series {
  const known = series.get(key) ?? {uid: undefined, count: 0, patchedAt: 0};
  series.delete(key);
  series.set(key, known);
  dropOldest(series, SERIES);
  return known;
}

function createAllowance(clock: Clock): (uid: string) => boolean {
  const buckets = new Map<string, {left: number; at: number}>();
  return (uid) => {
    const now = clock.monotonic();
    const old = buckets.get(uid) ?? {left: BURST, at: now};
    const left = Math.min(BURST, old.left + (now - old.at) / REFILL_MS);
    buckets.delete(uid);
    buckets.set(uid, {left: left >= 1 ? left - 1 : left, at: now});
    dropOldest(buckets, SERIES);
    return left >= 1;
  };
}

function dropOldest(map: Map<string, unknown>, limit: number): void {
  if (map.size <= limit) return;
  const oldest = map.keys().next();
  if (oldest.done !== true) map.delete(oldest.value);
}
