import type {Clock} from './clock.ts';
import type {WaitOptions} from './ports.ts';

/** People who wait for a cache. */
export interface Waiters {
  /** Resolve with the first defined result of `probe`: now, or after a touch; undefined on time-out or abort. */
  until<R>(probe: () => R | undefined, options: WaitOptions & {key?: string | undefined}): Promise<R | undefined>;
  /** Something changed (of this key, where given): probes run soon, once for all touches of one turn of the event loop. */
  touch(key?: string): void;
  /** End all waits with undefined. */
  close(): void;
}

type Check = () => void;

/** Make a meeting point for changes and probes. */
export function createWaiters(clock: Clock): Waiters {
  const everywhere = new Set<Check>();
  const byKey = new Map<string, Set<Check>>();
  const touched = new Set<string>();
  const enders = new Set<() => void>();
  let scheduled = false;

  const flush = () => {
    scheduled = false;
    const keys = [...touched];
    touched.clear();
    for (const check of [...everywhere]) check();
    for (const key of keys) for (const check of [...(byKey.get(key) ?? [])]) check();
  };
  const enlist = (check: Check, key: string | undefined): (() => void) => {
    if (key === undefined) {
      everywhere.add(check);
      return () => everywhere.delete(check);
    }
    const set = byKey.get(key) ?? new Set();
    byKey.set(key, set.add(check));
    return () => {
      set.delete(check);
      if (set.size === 0 && byKey.get(key) === set) byKey.delete(key);
    };
  };
  return {
    until<R>(probe: () => R | undefined, {timeoutMs, signal, key}: WaitOptions & {key?: string | undefined}) {
      return new Promise<R | undefined>((resolve, reject) => {
        const first = probe();
        if (first !== undefined || signal?.aborted === true || timeoutMs <= 0) return resolve(first);
        const end = (result?: R) => {
          leave();
          cancel();
          enders.delete(end);
          signal?.removeEventListener('abort', giveUp);
          resolve(result);
        };
        const giveUp = () => end();
        const leave = enlist(() => {
          try {
            const result = probe();
            if (result !== undefined) end(result);
          } catch (error) {
            reject(error);
            end();
          }
        }, key);
        const cancel = clock.after(timeoutMs, giveUp);
        enders.add(end);
        signal?.addEventListener('abort', giveUp, {once: true});
      });
    },
    touch(key) {
      if (key !== undefined) touched.add(key);
      if (scheduled) return;
      scheduled = true;
      queueMicrotask(flush);
    },
    close() {
      for (const end of [...enders]) end();
    },
  };
}
