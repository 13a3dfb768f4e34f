import {type ConditionState, getCondition} from '../../api/condition-list.ts';
import type {Condition} from '../../api/kube-object.ts';
import type {TurnObject, TurnReason, TurnStatus} from '../../api/v1alpha1/index.ts';
import {freshConditions} from '../fresh-conditions.ts';
import {cutBytes, MAX_MESSAGE_BYTES} from '../status-size.ts';

/** Phase of a turn. */
export type TurnPhase = NonNullable<TurnStatus['phase']>;

const ENDED = {
  Completed: 'the agent finished',
  Failed: 'the turn failed',
  Interrupted: 'the turn was stopped while it ran',
  Cancelled: 'the turn did not run',
} as const;

const TOO_LATE =
  'the agent works on it; stop: Withdraw came too late, because it takes back queued turns only. Next: set spec.stop to Interrupt to end it, or let it finish';

/**
 * What the phase alone says, and what of the wish to stop could not be met. What a turn waits for changes while it waits: its
 * Session says that, and each change of a text here would be a write for each turn.
 */
function toldOf({spec, metadata}: TurnObject, phase: TurnPhase): string {
  const session = `kubectl describe sessions.carrel.dev ${spec.session} -n ${metadata.namespace ?? ''}`;
  if (phase === 'Queued') return `it runs when the turns before it have ended and its session is ready: ${session}`;
  if (phase !== 'Running') return ENDED[phase];
  return spec.stop === 'Withdraw' ? TOO_LATE : `the agent works on it, or waits for an answer: ${session}`;
}

/** The whole condition list of a turn in this phase; who writes the phase writes them in the same patch. */
export function turnConditions(
  turn: TurnObject,
  {phase, message, now}: {phase: TurnPhase; message?: string | undefined; now: Date},
): Condition[] {
  const base = {
    reason: phase satisfies TurnReason,
    message: message ?? toldOf(turn, phase),
    observedGeneration: turn.metadata.generation ?? 0,
  };
  const waits = phase === 'Queued' || phase === 'Running';
  const second = waits ? 'Reconciling' : phase === 'Completed' ? 'Complete' : 'Failed';
  const states: ConditionState[] = [
    {...base, type: 'Ready', status: waits ? 'False' : 'True'},
    {...base, type: second, status: 'True'},
  ];
  return freshConditions(turn.status?.conditions, states, now);
}

/** Conditions of a turn whose Session does not exist. */
export function sessionMissingConditions(turn: TurnObject, now: Date): Condition[] {
  const message = `no Session named ${turn.spec.session} in this namespace: create it, or delete the turn`;
  return stalledConditions(turn, {reason: 'SessionNotFound', message}, now);
}

/** Conditions of a queued turn whose Session has failed: nothing but a person gets it out of the queue. */
export function sessionFailedConditions(turn: TurnObject, now: Date): Condition[] {
  const message = `Session ${turn.spec.session} has failed; its condition Failed says why. Next: mend that, then raise spec.restart of the Session, and the turn runs; or set spec.stop to Withdraw`;
  return stalledConditions(turn, {reason: 'SessionFailed', message}, now);
}

/** True for a turn that says so. */
export function saysSessionFailed({status}: TurnObject): boolean {
  return getCondition(status?.conditions, 'Stalled')?.reason === ('SessionFailed' satisfies TurnReason);
}

function stalledConditions(turn: TurnObject, why: {reason: TurnReason; message: string}, now: Date): Condition[] {
  const base = {...why, observedGeneration: turn.metadata.generation ?? 0};
  const states: ConditionState[] = [
    {...base, type: 'Ready', status: 'False'},
    {...base, type: 'Stalled', status: 'True'},
  ];
  return freshConditions(turn.status?.conditions, states, now);
}

/**
 * Conditions of a turn that has just ended, from its final status alone: who ends a turn writes them in the same patch, so
 * that an end is one write. The spec cannot be looked at in that patch, so no generation is named.
 */
export function endConditions({phase, error, finishedAt}: TurnStatus): Condition[] {
  if (phase === undefined || phase === 'Queued' || phase === 'Running') return [];
  const lastTransitionTime = finishedAt ?? '';
  const message = error === undefined ? ENDED[phase] : cutBytes(`${error.code}: ${error.message}`, MAX_MESSAGE_BYTES);
  const type = phase === 'Completed' ? 'Complete' : 'Failed';
  return [type, 'Ready'].map((t) => ({type: t, status: 'True', reason: phase, message, lastTransitionTime}));
}
