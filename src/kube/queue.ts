// One key at a time, each key at most once at a time:
//
//   add --> ready (high before normal) --> running --> (added meanwhile? ready : idle)
//                ^                            | threw: backoff      | result: later
//                +------- timer --------------+---------------------+
import type {Clock} from './clock.ts';

/** Interactive work overtakes resyncs. */
export type Priority = 'high' | 'normal';

/** How a queue works. */
export interface QueueParts {
  readonly clock: Clock;
  /** Keys worked on at once. */
  readonly workers: number;
  /** Do the work of one key; rejects for a retry with backoff. */
  readonly work: (key: string) => Promise<WorkResult>;
  /** Called with what `work` threw, and when it will be tried again; may return a longer delay. */
  readonly failed: (key: string, error: unknown, retry: {failures: number; delayMs: number}) => void;
  readonly depth?: (keys: number) => void;
  readonly random?: () => number;
  readonly backoff?: Backoff;
  /** Wish of an error for a longer wait, in milliseconds. */
  readonly atLeast?: (error: unknown) => number;
}

/** Milliseconds until the key must be looked at again, undefined for never; `not now` when nothing was tried: somebody else adds the key again. */
export type WorkResult = number | undefined | 'not now';

/** Delays after failures: first, doubled each time, up to max. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** A change brings a failing key back no sooner than this after its last failure, so that its own writes cannot make it spin. */
  readonly floorMs: number;
}

/** Work by key. */
export interface Queue {
  add(key: string, priority?: Priority): void;
  /** At the latest in so many milliseconds; an earlier timer stays. */
  addAfter(key: string, ms: number): void;
  /** Keys ready or running. */
  pending(): number;
  /** Take no more, drop what waits; resolves when nothing runs any more. */
  stop(): Promise<void>;
}

interface Entry {
  state: 'idle' | 'ready' | 'running';
  /** Added while running. */
  again: Priority | undefined;
  failures: number;
  failedAt: number;
  dueAt: number;
  cancel: (() => void) | undefined;
}

const BACKOFF: Backoff = {firstMs: 200, maxMs: 60_000, floorMs: 1_000};
// Out of so many picks one is a normal key, so that a steady stream of high ones starves nobody.
const FAIR_SHARE = 8;

/** Start a queue. */
export function createQueue(parts: QueueParts): Queue {
  const {clock} = parts;
  const backoff = parts.backoff ?? BACKOFF;
  const random = parts.random ?? Math.random;
  const entries = new Map<string, Entry>();
  const ready = {high: new Set<string>(), normal: new Set<string>()};
  let running = 0;
  let picks = 0;
  let stopped = false;
  let idle: (() => void) | undefined;

  const entryOf = (key: string): Entry => {
    const fresh: Entry = {state: 'idle', again: undefined, failures: 0, failedAt: 0, dueAt: 0, cancel: undefined};
    const entry = entries.get(key) ?? fresh;
    entries.set(key, entry);
    return entry;
  };
  const makeReady = (key: string, entry: Entry, priority: Priority) => {
    entry.cancel?.();
    entry.cancel = undefined;
    entry.state = 'ready';
    ready[priority].add(key);
    pump();
  };
  const later = (key: string, entry: Entry, ms: number) => {
    const dueAt = clock.monotonic() + ms;
    if (entry.cancel !== undefined && entry.dueAt <= dueAt) return;
    entry.cancel?.();
    entry.dueAt = dueAt;
    entry.cancel = clock.after(ms, () => {
      entry.cancel = undefined;
      if (!stopped && entry.state === 'idle') makeReady(key, entry, 'normal');
    });
  };
  const add = (key: string, priority: Priority) => {
    if (stopped) return;
    const entry = entryOf(key);
    if (entry.state === 'running') entry.again = entry.again === 'high' ? 'high' : priority;
    else if (entry.state === 'ready') {
      if (priority === 'high' && ready.normal.delete(key)) ready.high.add(key);
    } else {
      const rest = entry.failures === 0 ? 0 : entry.failedAt + backoff.floorMs - clock.monotonic();
      if (rest > 0) later(key, entry, rest);
      else makeReady(key, entry, priority);
    }
    parts.depth?.(ready.high.size + ready.normal.size);
  };
  const pick = (): string | undefined => {
    const normalFirst = ready.high.size === 0 || (ready.normal.size > 0 && ++picks % FAIR_SHARE === 0);
    const set = normalFirst ? ready.normal : ready.high;
    const first = set.values().next();
    if (first.done === true) return undefined;
    set.delete(first.value);
    return first.value;
  };
  const pump = () => {
    while (!stopped && running < parts.workers) {
      const key = pick();
      if (key === undefined) return;
      running++;
      void runOne(key, entryOf(key));
    }
  };
  const runOne = async (key: string, entry: Entry) => {
    entry.state = 'running';
    entry.again = undefined;
    let next: number | undefined;
    try {
      const result = await parts.work(key);
      if (result !== 'not now') {
        next = result;
        entry.failures = 0;
      }
    } catch (error) {
      entry.failures++;
      entry.failedAt = clock.monotonic();
      const grown = Math.min(backoff.maxMs, backoff.firstMs * 2 ** Math.min(entry.failures - 1, 30));
      next = Math.max(grown * (0.75 + random() / 2), parts.atLeast?.(error) ?? 0);
      parts.failed(key, error, {failures: entry.failures, delayMs: next});
    }
    running--;
    entry.state = 'idle';
    settle(key, entry, next);
    if (stopped && running === 0) idle?.();
    pump();
  };
  const settle = (key: string, entry: Entry, next: number | undefined) => {
    if (stopped) return;
    if (next !== undefined) later(key, entry, next);
    if (entry.again !== undefined) add(key, entry.again);
    else if (next === undefined && entry.failures === 0) entries.delete(key);
  };
  return {
    add: (key, priority = 'normal') => add(key, priority),
    addAfter(key, ms) {
      if (stopped) return;
      const entry = entryOf(key);
      if (entry.state !== 'ready') later(key, entry, ms);
    },
    pending: () => running + ready.high.size + ready.normal.size,
    stop() {
      stopped = true;
      for (const entry of entries.values()) entry.cancel?.();
      ready.high.clear();
      ready.normal.clear();
      return running === 0 ? Promise.resolve() : new Promise((resolve) => (idle = resolve));
    },
  };
}
