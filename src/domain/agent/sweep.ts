/** How long nothing may refer to a shared object before it is swept: longer than any stale cache. */
export const SWEEP_AFTER_MS = 600_000;

/** What is known about one shared object. */
export interface SweepSeen {
  /** Something live refers to it: a Session, a pod, or an Agent that publishes it. */
  referenced: boolean;
  /** When it was first seen without a reference by this process; undefined = never. */
  unreferencedSince: Date | undefined;
  now: Date;
}

/** Keep it, look again later, or delete it after one more live look. */
export type SweepDecision = {kind: 'keep'} | {kind: 'later'; afterMs: number} | {kind: 'sweep'};

/** Decides about one shared object; a restart of the process starts the time anew, which only keeps things longer. */
export function planSweep(seen: SweepSeen): SweepDecision {
  if (seen.referenced) return {kind: 'keep'};
  const since = seen.unreferencedSince ?? seen.now;
  const left = since.getTime() + SWEEP_AFTER_MS - seen.now.getTime();
  return left > 0 ? {kind: 'later', afterMs: left} : {kind: 'sweep'};
}
