import type {Desired} from '../../api/wire/runner.ts';

/** What the runner is doing when it looks at the desired document. */
export type Doing = {
  /** The turn that was taken and has not ended. */
  current?: {uid: string; interrupting: boolean; absentSince?: number};
  taken: ReadonlySet<string>;
  /** The agent answers, and can be given a prompt. */
  ready: boolean;
  /** The agent will not be started again in this pod. */
  failed: boolean;
};

/** The one thing to do next. */
export type NextStep =
  | {do: 'nothing'}
  | {do: 'take'; turn: NonNullable<Desired['turn']>}
  /** Stopped, or unable to run, before the agent was given it. */
  | {do: 'refuse'; turn: NonNullable<Desired['turn']>; why: 'stopped' | 'failed'}
  | {do: 'interrupt'}
  /** The document no longer names the running turn; look again later. */
  | {do: 'confirm'; since: number}
  | {do: 'leave'};

/** Milliseconds until what the document does not name counts as gone: a replica of the gateway may be behind another. */
export const ABSENT_FOR = 5_000;

/** Compares what is desired with what is being done. A stop names one turn and never hits another. */
export function nextStep(desired: Desired, doing: Doing, now: number): NextStep {
  const {current} = doing;
  if (current !== undefined) {
    if (current.interrupting) return {do: 'nothing'};
    if (desired.stop?.turnUid === current.uid) return {do: 'interrupt'};
    if (desired.turn?.uid === current.uid) return {do: 'nothing'};
    const since = current.absentSince ?? now;
    return now - since >= ABSENT_FOR ? {do: 'interrupt'} : {do: 'confirm', since};
  }
  const {turn} = desired;
  if (turn !== undefined && !doing.taken.has(turn.uid)) {
    if (desired.stop?.turnUid === turn.uid) return {do: 'refuse', turn, why: 'stopped'};
    if (doing.ready) return {do: 'take', turn};
    if (doing.failed) return {do: 'refuse', turn, why: 'failed'};
    return {do: 'nothing'};
  }
  // A turn that stands there although it has ended here is not stored yet: whoever left now would take its end along.
  return desired.desired === 'Stop' && turn === undefined ? {do: 'leave'} : {do: 'nothing'};
}
