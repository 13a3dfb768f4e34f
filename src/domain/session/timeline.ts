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

const LONGEST = 20;

/** The timeline with one more step; the oldest fall out. */
export function withStep(timeline: Timeline | undefined, step: LifeStep, now: Date, note?: string): Timeline {
  const entry = {time: wholeSeconds(now), event: step, ...(note === undefined ? {} : {note: cutBytes(note, 256)})};
  return [...(timeline ?? []), entry].slice(-LONGEST);
}

/** How often this step was taken within the last `withinMs`. */
export function stepsWithin(timeline: Timeline | undefined, step: LifeStep, now: Date, withinMs: number): number {
  return (timeline ?? []).filter((e) => e.event === step && now.getTime() - Date.parse(e.time) <= withinMs).length;
}

/** True when `step` was taken after the last time that `other` was. */
export function happenedSince(timeline: Timeline | undefined, step: LifeStep, other: LifeStep): boolean {
  const names = (timeline ?? []).map((e) => e.event);
  return names.lastIndexOf(step) > names.lastIndexOf(other);
}
