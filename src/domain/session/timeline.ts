import {wholeSeconds} from '../../api/condition-list.ts';
import type {SessionStatus} from '../../api/v1alpha1/index.ts';
import {cutBytes} from '../status-size.ts';

type Timeline = NonNullable<SessionStatus['timeline']>;

/** Steps of a Session's life that the timeline keeps. */
export type LifeStep =
  | 'Started'
  | 'Ready'
  | 'Lost'
  | 'Restarted'
  | 'Sleeping'
  | 'Failed'
  | 'Archived'
  | 'Reactivated'
  | 'Closing'
  | 'Closed';

/** So many pods that are lost within this time are a failure of the Session; what is longer ago says nothing any more. */
export const LOSSES = 3;
export const LOSSES_WITHIN_MS = 600_000;

const LONGEST = 20;

/** The timeline with one more step; the oldest fall out, but for what decides about the next loss. */
export function withStep(timeline: Timeline | undefined, step: LifeStep, now: Date, note?: string): Timeline {
  const entry = {time: wholeSeconds(now), event: step, ...(note === undefined ? {} : {note: cutBytes(note, 256)})};
  let steps: Timeline = [...(timeline ?? []), entry];
  while (steps.length > LONGEST) steps = steps.toSpliced(leastNeeded(steps, now), 1);
  return steps;
}

/**
 * Place of the step that goes first. Whoever flips `spec.desired` fills a timeline within seconds: that must not let losses be
 * forgotten, nor which of them were before the present attempt. Where each step is needed, it is the oldest.
 */
function leastNeeded(steps: Timeline, now: Date): number {
  const begun = steps.findLastIndex((e) => e.event === 'Started');
  return Math.max(
    0,
    steps
      .slice(0, -1)
      .findIndex((e, at) => at !== begun && !(e.event === 'Lost' && isWithin(e, now, LOSSES_WITHIN_MS))),
  );
}

/** How often this step was taken within the last `withinMs`. */
export function stepsWithin(timeline: Timeline | undefined, step: LifeStep, now: Date, withinMs: number): number {
  return (timeline ?? []).filter((e) => e.event === step && isWithin(e, now, withinMs)).length;
}

function isWithin({time}: Timeline[number], now: Date, withinMs: number): boolean {
  return now.getTime() - Date.parse(time) <= withinMs;
}

/** True when `step` was taken after the last time that `other` was. */
export function happenedSince(timeline: Timeline | undefined, step: LifeStep, other: LifeStep): boolean {
  const names = (timeline ?? []).map((e) => e.event);
  return names.lastIndexOf(step) > names.lastIndexOf(other);
}
