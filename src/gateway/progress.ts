import type {Clock} from '../kube/clock.ts';

/** Tell the caller that its call goes on; `step` grows with each telling. */
export type SayProgress = (step: number, note: string) => void;

/** Wait for `work`, and tell the caller meanwhile that the call goes on. */
export type During = <T>(note: string, work: Promise<T>) => Promise<T>;

/** Below the idle time limits of common proxies. */
const EVERY_MS = 10_000;

/** Tells at once, which makes the reply a stream that no proxy takes for dead, and then each 10 s; silent without `say`. */
export function telling(clock: Clock, say: SayProgress | undefined): During {
  return async (note, work) => {
    if (say === undefined) return await work;
    let step = 0;
    let cancel = () => {};
    const tell = () => {
      step += 1;
      say(step, note);
      cancel = clock.after(EVERY_MS, tell);
    };
    tell();
    try {
      return await work;
    } finally {
      cancel();
    }
  };
}
