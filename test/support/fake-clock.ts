import type {Clock} from '../../src/kube/clock.ts';

/** A clock that moves only when told; timers fire in order, and what they start gets its turns of the event loop. */
export interface FakeClock extends Clock {
  advance(ms: number): Promise<void>;
  /** Timers that wait. */
  timers(): number;
}

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

/** A clock that stands at 2026-01-01T00:00:00Z. */
export function fakeClock(): FakeClock {
  const start = Date.UTC(2026, 0, 1);
  const timers = new Set<Timer>();
  let elapsed = 0;
  const due = (until: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) if (timer.at <= until && (first === undefined || timer.at < first.at)) first = timer;
    return first;
  };
  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    after(ms, fn) {
      const timer = {at: elapsed + ms, fn};
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const until = elapsed + ms;
      await turns();
      for (let timer = due(until); timer !== undefined; timer = due(until)) {
        timers.delete(timer);
        elapsed = Math.max(elapsed, timer.at);
        timer.fn();
        await turns();
      }
      elapsed = until;
      await turns();
    },
    timers: () => timers.size,
  };
}

/** A clock on which time passes only by waiting: a pause is over at once, and counted. */
export function impatientClock(): FakeClock {
  const clock = fakeClock();
  return {
    ...clock,
    after(ms, fn) {
      const cancel = clock.after(ms, fn);
      void clock.advance(ms);
      return cancel;
    },
  };
}

/** Let promises that are ready run, also those that they make ready. */
export async function turns(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
}
