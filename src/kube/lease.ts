// One leader per Lease:
//
//   following --(free, expired as seen by our own clock, or ours)--> leading --(renewed)--> leading
//       ^                                                              |
//       +---- `stopped` called: no renewal within renewMs, or taken ---+
//
// Only our own monotonic clock counts: a Lease is expired when *we* have seen it unchanged for its whole duration.
import type {Lease} from '../api/kube-core.ts';
import {Leases} from './builtin.ts';
import {type Clock, pause, systemClock} from './clock.ts';
import {isApiError} from './errors.ts';
import type {Client, Leadership, Log} from './ports.ts';

/** What leader election needs. Not the guarded client of the controllers: that one may write only while leading. */
export interface LeaseParts {
  readonly client: Pick<Client, 'find' | 'create' | 'patchSpecMerge'>;
  readonly namespace: string;
  readonly name: string;
  /** Unique per process: pod name and UID. */
  readonly identity: string;
  readonly log: Log;
  readonly clock?: Clock;
  readonly times?: LeaseTimes;
  readonly random?: () => number;
  /** Called when leading; the signal aborts the moment leadership ends. */
  readonly started: (signal: AbortSignal) => void;
  /** Called after the signal; awaited before the Lease is released or taken again. */
  readonly stopped: () => Promise<void>;
}

/** Milliseconds; renewMs must be well under leaseMs: it is when we stop writing. */
export interface LeaseTimes {
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly retryMs: number;
}

const TIMES: LeaseTimes = {leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000};

interface Seen {
  key: string;
  at: number;
}

interface Term {
  readonly ending: AbortController;
  /** When the request of the last good renewal was sent. */
  renewedAt: number;
  cancel: () => void;
}

/** Take part in the election until stopped. */
export function runLeader(parts: LeaseParts): Leadership {
  const clock = parts.clock ?? systemClock;
  const times = parts.times ?? TIMES;
  const stopping = new AbortController();
  const held: {term: Term | undefined} = {term: undefined};
  const loop = elect({parts, clock, times, held, signal: stopping.signal});
  return {
    // Asked before every write: also true to life after the process was frozen, when no timer has run yet.
    isLeader: () =>
      held.term !== undefined &&
      !held.term.ending.signal.aborted &&
      clock.monotonic() - held.term.renewedAt < times.renewMs,
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}

interface Election {
  readonly parts: LeaseParts;
  readonly clock: Clock;
  readonly times: LeaseTimes;
  readonly held: {term: Term | undefined};
  readonly signal: AbortSignal;
}

async function elect(election: Election): Promise<void> {
  const {parts, clock, times, held, signal} = election;
  const seen: Seen = {key: '', at: 0};
  const random = parts.random ?? Math.random;
  while (!signal.aborted) {
    const sentAt = clock.monotonic();
    const mine = await attempt(election, seen);
    if (mine && held.term === undefined && clock.monotonic() - sentAt < times.renewMs) begin(election, sentAt);
    else if (mine && held.term !== undefined) extend(election, held.term, sentAt);
    else if (mine === false && held.term !== undefined) held.term.ending.abort();
    if (held.term?.ending.signal.aborted === true) await end(election);
    await pause(clock, times.retryMs * (1 + random() / 5), wakeOn(signal, held.term));
  }
  // What runs may still write until it has ended, or the term has.
  if (await end(election)) await release(election);
}

// A term that ends while we sleep must be wound up at once.
function wakeOn(signal: AbortSignal, term: Term | undefined): AbortSignal {
  return term === undefined ? signal : AbortSignal.any([signal, term.ending.signal]);
}

function begin(election: Election, sentAt: number): void {
  const {parts, held} = election;
  const term: Term = {ending: new AbortController(), renewedAt: sentAt, cancel: () => {}};
  held.term = term;
  extend(election, term, sentAt);
  parts.log.info({lease: parts.name, identity: parts.identity}, 'leading');
  parts.started(term.ending.signal);
}

function extend({parts, clock, times}: Election, term: Term, sentAt: number): void {
  term.cancel();
  term.renewedAt = sentAt;
  const left = Math.max(0, sentAt + times.renewMs - clock.monotonic());
  term.cancel = clock.after(left, () => {
    parts.log.warn({lease: parts.name}, 'lease not renewed in time: stepping down');
    term.ending.abort();
  });
}

/** True when the term lasted until everything had stopped. */
async function end({parts, held}: Election): Promise<boolean> {
  const {term} = held;
  if (term === undefined) return false;
  try {
    await parts.stopped();
  } catch (error) {
    parts.log.error({lease: parts.name, err: error}, 'stopping the leader failed');
  }
  const lasted = !term.ending.signal.aborted;
  term.cancel();
  term.ending.abort();
  held.term = undefined;
  parts.log.info({lease: parts.name, identity: parts.identity}, 'not leading any more');
  return lasted;
}

/** True: the Lease is ours from the moment the request was sent. False: it is somebody else's. Undefined: not known. */
async function attempt(election: Election, seen: Seen): Promise<boolean | undefined> {
  const {parts, clock, times, held, signal} = election;
  const ref = {namespace: parts.namespace, name: parts.name};
  // A call that hangs may not outlive the term it renews.
  const options = {signal: wakeOn(signal, held.term), timeoutMs: Math.max(1_000, times.renewMs / 2)};
  try {
    const lease = await parts.client.find(Leases, ref, options);
    const now = clock.now();
    if (lease === undefined) {
      const spec = {...claim(election, now), acquireTime: microTime(now), leaseTransitions: 0};
      await parts.client.create(Leases, {metadata: ref, spec}, options);
      return true;
    }
    if (!free(election, lease, seen)) return false;
    const changes = lease.spec?.holderIdentity !== parts.identity;
    const taken = {acquireTime: microTime(now), leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + 1};
    const spec = {...claim(election, now), ...(changes ? taken : {})};
    await parts.client.patchSpecMerge(Leases, ref, {resourceVersion: lease.metadata.resourceVersion, spec}, options);
    return true;
  } catch (error) {
    if (isApiError(error, 'Conflict', 'AlreadyExists')) return undefined;
    if (!isApiError(error, 'Aborted')) parts.log.warn({lease: parts.name, err: error}, 'lease not reached');
    return undefined;
  }
}

function claim({parts, times}: Election, now: number) {
  const leaseDurationSeconds = Math.max(1, Math.ceil(times.leaseMs / 1_000));
  return {holderIdentity: parts.identity, leaseDurationSeconds, renewTime: microTime(now)};
}

function free({parts, clock, times}: Election, lease: Lease, seen: Seen): boolean {
  const holder = lease.spec?.holderIdentity ?? '';
  if (holder === '' || holder === parts.identity) return true;
  const key = `${holder} ${lease.spec?.renewTime ?? ''} ${lease.metadata.resourceVersion}`;
  if (seen.key !== key) {
    seen.key = key;
    seen.at = clock.monotonic();
  }
  const duration = (lease.spec?.leaseDurationSeconds ?? times.leaseMs / 1_000) * 1_000;
  return clock.monotonic() - seen.at >= duration;
}

// So that the next leader need not wait for the expiry.
async function release({parts, clock}: Election): Promise<void> {
  const ref = {namespace: parts.namespace, name: parts.name};
  try {
    const lease = await parts.client.find(Leases, ref, {timeoutMs: 3_000});
    if (lease?.spec?.holderIdentity !== parts.identity) return;
    const spec = {holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(clock.now())};
    const patch = {resourceVersion: lease.metadata.resourceVersion, spec};
    await parts.client.patchSpecMerge(Leases, ref, patch, {timeoutMs: 3_000});
  } catch (error) {
    parts.log.warn({lease: parts.name, err: error}, 'lease not released: the next leader waits for its expiry');
  }
}

function microTime(at: number): string {
  return new Date(at).toISOString().replace('Z', '000Z');
}
