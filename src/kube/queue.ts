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

// With its spread the longest wait stays under a minute: so long after the last fault the end state must be reached.
const BACKOFF: Backoff = {firstMs: 200, maxMs: 40_000, floorMs: 1_000};
// Out of so many picks one is a normal key, so that a steady stream of high ones starves nobody.
const FAIR_SHARE = 8;

/** Start a queue. */
export function createQueue(parts: QueueParts): Queue {
  return new KeyQueue(parts);
}

class KeyQueue implements Queue {
  readonly #parts: QueueParts;
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #entries = new Map<string, Entry>();
  readonly #ready = {high: new Set<string>(), normal: new Set<string>()};
  #running = 0;
  #picks = 0;
  #stopped = false;
  #idle: (() => void) | undefined;

  constructor(parts: QueueParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
    this.#backoff = parts.backoff ?? BACKOFF;
  }

  add(key: string, priority: Priority = 'normal'): void {
    if (this.#stopped) return;
    const entry = this.#entryOf(key);
    if (entry.state === 'running') entry.again = entry.again === 'high' ? 'high' : priority;
    else if (entry.state === 'ready') {
      if (priority === 'high' && this.#ready.normal.delete(key)) this.#ready.high.add(key);
    } else {
      const rest = entry.failures === 0 ? 0 : entry.failedAt + this.#backoff.floorMs - this.#clock.monotonic();
      if (rest > 0) this.#later(key, entry, rest);
      else this.#makeReady(key, entry, priority);
    }
  }

  addAfter(key: string, ms: number): void {
    if (this.#stopped) return;
    const entry = this.#entryOf(key);
    if (entry.state !== 'ready') this.#later(key, entry, ms);
  }

  pending(): number {
    return this.#running + this.#ready.high.size + this.#ready.normal.size;
  }

  stop(): Promise<void> {
    this.#stopped = true;
    for (const entry of this.#entries.values()) entry.cancel?.();
    this.#ready.high.clear();
    this.#ready.normal.clear();
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle = resolve;
    });
  }

  #entryOf(key: string): Entry {
    const fresh: Entry = {state: 'idle', again: undefined, failures: 0, failedAt: 0, dueAt: 0, cancel: undefined};
    const entry = this.#entries.get(key) ?? fresh;
    this.#entries.set(key, entry);
    return entry;
  }

  #makeReady(key: string, entry: Entry, priority: Priority): void {
    entry.cancel?.();
    entry.cancel = undefined;
    entry.state = 'ready';
    this.#ready[priority].add(key);
    this.#pump();
  }

  #later(key: string, entry: Entry, ms: number): void {
    const dueAt = this.#clock.monotonic() + ms;
    if (entry.cancel !== undefined && entry.dueAt <= dueAt) return;
    entry.cancel?.();
    entry.dueAt = dueAt;
    entry.cancel = this.#clock.after(ms, () => {
      entry.cancel = undefined;
      if (!this.#stopped && entry.state === 'idle') this.#makeReady(key, entry, 'normal');
    });
  }

  #pick(): string | undefined {
    const {high, normal} = this.#ready;
    const normalFirst = high.size === 0 || (normal.size > 0 && ++this.#picks % FAIR_SHARE === 0);
    const set = normalFirst ? normal : high;
    const first = set.values().next();
    if (first.done === true) return undefined;
    set.delete(first.value);
    return first.value;
  }

  #pump(): void {
    while (!this.#stopped && this.#running < this.#parts.workers) {
      const key = this.#pick();
      if (key === undefined) break;
      this.#running++;
      void this.#run(key, this.#entryOf(key));
    }
    this.#parts.depth?.(this.#ready.high.size + this.#ready.normal.size);
  }

  async #run(key: string, entry: Entry): Promise<void> {
    entry.state = 'running';
    entry.again = undefined;
    let next: number | undefined;
    try {
      const result = await this.#parts.work(key);
      if (result !== 'not now') {
        next = result;
        entry.failures = 0;
      }
    } catch (error) {
      next = this.#failed(key, entry, error);
    }
    this.#running--;
    entry.state = 'idle';
    this.#settle(key, entry, next);
    if (this.#stopped && this.#running === 0) this.#idle?.();
    this.#pump();
  }

  #failed(key: string, entry: Entry, error: unknown): number {
    const {firstMs, maxMs} = this.#backoff;
    const random = this.#parts.random ?? Math.random;
    entry.failures++;
    entry.failedAt = this.#clock.monotonic();
    const grown = Math.min(maxMs, firstMs * 2 ** Math.min(entry.failures - 1, 30));
    const delayMs = Math.max(grown * (0.75 + random() / 2), this.#parts.atLeast?.(error) ?? 0);
    this.#parts.failed(key, error, {failures: entry.failures, delayMs});
    return delayMs;
  }

  #settle(key: string, entry: Entry, next: number | undefined): void {
    if (this.#stopped) return;
    if (next !== undefined) this.#later(key, entry, next);
    if (entry.again !== undefined) this.add(key, entry.again);
    else if (entry.state === 'idle' && entry.cancel === undefined && entry.failures === 0) this.#entries.delete(key);
  }
}
