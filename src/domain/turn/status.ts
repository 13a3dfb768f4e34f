import {wholeSeconds} from '../../api/condition-list.ts';
import {TURN_TERMINAL, type TurnObject, type TurnStatus} from '../../api/v1alpha1/index.ts';
import {cutBytes, MAX_MESSAGE_BYTES} from '../status-size.ts';
import type {TurnCode} from './codes.ts';
import {sessionFailedConditions, turnConditions} from './conditions.ts';

/** True when the turn has a phase that never changes again. */
export function isTerminal(turn: TurnObject): boolean {
  const phase = turn.status?.phase;
  return TURN_TERMINAL.some((p) => p === phase);
}

/** What admission says of a turn. */
export interface Place {
  sessionUid: string;
  sequence: number;
  /** Turn that runs now, when this one was made to interrupt it. */
  interrupts: string | undefined;
  now: Date;
}

/** Status of a turn that waits in the queue; the number and what it interrupts are written once. */
export function queuedStatus(turn: TurnObject, place: Place): TurnStatus {
  const before = turn.status;
  const interrupts = before?.interrupts ?? (place.interrupts === undefined ? undefined : {turnUID: place.interrupts});
  return {
    ...before,
    observedGeneration: turn.metadata.generation ?? 0,
    phase: 'Queued',
    sequence: before?.sequence ?? place.sequence,
    sessionUID: place.sessionUid,
    admittedAt: before?.admittedAt ?? wholeSeconds(place.now),
    ...(interrupts === undefined ? {} : {interrupts}),
    conditions: turnConditions(turn, {phase: 'Queued', now: place.now}),
  };
}

/** Status of a turn that waits in the queue of a Session that has failed. */
export function heldStatus(turn: TurnObject, place: Place): TurnStatus {
  return {...queuedStatus(turn, place), conditions: sessionFailedConditions(turn, place.now)};
}

/** Status of a turn that is handed to a pod: from here on only that pod may finish it. */
export function runningStatus(turn: TurnObject, place: Place & {podUid: string}): TurnStatus {
  return {
    ...queuedStatus(turn, place),
    phase: 'Running',
    podUID: place.podUid,
    startedAt: wholeSeconds(place.now),
    conditions: turnConditions(turn, {phase: 'Running', now: place.now}),
  };
}

/** Status of a running turn that was edited: a Withdraw that came too late is told, with the way on. Undefined when nothing was edited. */
export function runningEdit(turn: TurnObject, now: Date): TurnStatus | undefined {
  const edited = observedEdit(turn);
  return edited === undefined ? undefined : {...edited, conditions: turnConditions(turn, {phase: 'Running', now})};
}

/**
 * Status of a turn whose spec was edited where nothing follows from it: a stop of one that ended, a promotion. Until the
 * edit is observed `kubectl wait` believes nothing of it. Undefined when there is nothing to say.
 */
export function observedEdit({metadata, status}: TurnObject): TurnStatus | undefined {
  const {generation} = metadata;
  if (generation === undefined || (status?.observedGeneration ?? 0) >= generation) return undefined;
  const conditions = status?.conditions?.map((c) =>
    c.observedGeneration === undefined ? c : {...c, observedGeneration: generation},
  );
  return {...status, observedGeneration: generation, ...(conditions === undefined ? {} : {conditions})};
}

/** How the controller ends a turn: one that never ran, or one whose pod is gone. */
export interface TurnEnd {
  phase: 'Cancelled' | 'Failed' | 'Interrupted';
  code: TurnCode;
  message: string;
  sessionUid: string;
  now: Date;
}

/** Status of a turn that the controller ends; `archived`, because its end is appended before this is written. */
export function endedStatus(turn: TurnObject, end: TurnEnd): TurnStatus {
  return {
    ...turn.status,
    observedGeneration: turn.metadata.generation ?? 0,
    phase: end.phase,
    sessionUID: turn.status?.sessionUID ?? end.sessionUid,
    error: {code: end.code, message: cutBytes(end.message, MAX_MESSAGE_BYTES)},
    finishedAt: wholeSeconds(end.now),
    archived: true,
    conditions: turnConditions(turn, {phase: end.phase, message: `${end.code}: ${end.message}`, now: end.now}),
  };
}
