// How a reconcile ended. Plain data, so that `domain` plans can return it.

/** The result of one reconcile; throwing instead means "retry with backoff". */
export type Outcome =
  /** Nothing to do until something watched changes. */
  | {readonly kind: 'done'}
  /** Waiting is expected: look again after `afterMs` at the latest (a watch event comes earlier). */
  | {readonly kind: 'wait'; readonly afterMs: number}
  /** A person must change something first; retried only on a change. */
  | {readonly kind: 'stalled'; readonly reason: string};

/** Nothing left to do. */
export const done: Outcome = {kind: 'done'};

/** Look again after this many milliseconds at the latest. */
export const wait = (afterMs: number): Outcome => ({kind: 'wait', afterMs});

/** Stop until the object or something watched changes. */
export const stalled = (reason: string): Outcome => ({kind: 'stalled', reason});

/** The more urgent of two outcomes: the earlier wait wins over done and stalled, stalled over done. */
export function soonest(a: Outcome, b: Outcome): Outcome {
  if (a.kind === 'wait' && b.kind === 'wait') return a.afterMs <= b.afterMs ? a : b;
  if (a.kind === 'wait') return a;
  if (b.kind === 'wait') return b;
  return a.kind === 'stalled' ? a : b;
}
