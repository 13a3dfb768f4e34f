import type {SessionStatus} from '../../api/v1alpha1/index.ts';
import {ARCHIVE_TROUBLE} from '../archive.ts';
import {freshConditions} from '../fresh-conditions.ts';
import {sizedSession} from '../status-size.ts';
import {fail} from './life.ts';
import type {SessionPlan} from './plan.ts';
import {planQueue} from './queue.ts';
import type {SessionSeen} from './seen.ts';
import type {Applied, Refused} from './steps.ts';

/** The status after the steps: identities of what was made are put in; what was refused is said; all of it fits. */
export function settle(seen: SessionSeen, plan: SessionPlan, applied: Applied): SessionStatus {
  const made: SessionStatus = {
    ...plan.status,
    ...(applied.volume === undefined ? {} : {volume: applied.volume}),
    ...(applied.initialTurn === undefined ? {} : {initialTurn: applied.initialTurn}),
    ...(applied.pod === undefined ? {} : {pod: applied.pod}),
    ...(applied.failed === undefined ? {} : queueOf(seen.session.status ?? {})),
  };
  const status = applied.refused === undefined ? made : refusedStatus(seen, made, applied.refused);
  return sizedSession(applied.failed?.archiveNews === true ? waiting(seen, status) : status);
}

/** Ends of turns wait for the archive: without a word of it, a turn would seem to run for ever. */
function waiting({session, now}: SessionSeen, status: SessionStatus): SessionStatus {
  const trouble = {
    ...ARCHIVE_TROUBLE,
    status: 'True' as const,
    observedGeneration: session.metadata.generation ?? 0,
  };
  const others = (status.conditions ?? []).filter((c) => c.type !== trouble.type);
  const conditions = freshConditions(session.status?.conditions, [...others, trouble], now);
  return {...status, conditions};
}

/** What an attempt says of itself when it begins. */
function begunOf({attempt, timeline, revision, startingSince, heldSince}: SessionStatus): SessionStatus {
  return {attempt, timeline, revision, startingSince, heldSince};
}

/** The queue as it stood: what was decided about it is decided anew, so that no turn is counted twice or left out. */
function queueOf({activeTurn, admitted, lastSequence, queued, turns}: SessionStatus): SessionStatus {
  return {activeTurn, admitted, lastSequence, queued, turns};
}

function refusedStatus(seen: SessionSeen, made: SessionStatus, refused: Refused): SessionStatus {
  const before = seen.session.status ?? {};
  const observedGeneration = seen.session.metadata.generation ?? 0;
  // An attempt whose volume was refused has not begun: its number and its step are taken back.
  const begun = made.volume !== undefined;
  const status: SessionStatus = begun ? made : {...made, ...begunOf(before)};
  const {reason, message} = refused;
  const base = {reason, message, observedGeneration};
  if (refused.retryMs === undefined) {
    const failed = fail({seen, queue: planQueue(seen), status}, refused);
    const states = (['Failed', 'Ready', 'Stalled'] as const).map((type) => ({
      ...base,
      message: failed.ready.message,
      type,
      status: type === 'Ready' ? ('False' as const) : ('True' as const),
    }));
    const conditions = freshConditions(before.conditions, states, seen.now);
    return {...status, ...failed.changes, phase: 'Failed', restart: seen.session.spec.restart, conditions};
  }
  const states = (['Ready', 'Reconciling'] as const).map((type) => ({
    ...base,
    type,
    status: type === 'Ready' ? ('False' as const) : ('True' as const),
  }));
  const conditions = freshConditions(before.conditions, states, seen.now);
  return {...status, phase: begun ? status.phase : 'Pending', conditions};
}
