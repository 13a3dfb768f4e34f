import {wholeSeconds} from '../../api/condition-list.ts';
import {done, wait} from '../../api/outcome.ts';
import {addressMoved} from './address.ts';
import {forceDeleteCommand} from './advice.ts';
import {atFirst, deletePod, type Life, type LifeRule, type LifeSeen, left, podLeft, podOf, ttlLeft} from './life.ts';
import {changedPod, goingPod, podFault, silentLeft} from './life-fault.ts';
import {lateness} from './life-overdue.ts';
import type {Step} from './steps.ts';
import {withStep} from './timeline.ts';

/** Ways out of a Session's life, in the order in which they are asked. */
export const ENDING: readonly LifeRule[] = [closed, closing, archived, failed];

/** A closed Session keeps nothing but its record, and goes when its time is over. */
function closed(life: LifeSeen): Life | undefined {
  const {seen, status} = life;
  if (status.phase !== 'Closed') return undefined;
  const over = afterTime(life);
  const told = REASONS.find((r) => r === status.stoppedReason) ?? 'Closed';
  return {
    phase: 'Closed',
    ...endedAs(life, told),
    changes: {pod: podLeft(life)},
    steps: [...deletePod(seen), ...over.steps],
    outcome: over.outcome,
  };
}

const REASONS = ['Cancelled', 'Closed', 'Idle'] as const;

/** Closed ends after the running turn, Cancelled at once; an idle limit of the Agent closes too. */
function closing(life: LifeSeen): Life | undefined {
  const {seen, status} = life;
  const {desired} = seen.session.spec;
  const asked = desired === 'Closed' || desired === 'Cancelled';
  if (!asked && status.phase !== 'Closing' && !idleForTooLong(life)) return undefined;
  // Who takes the wish back while the Session closes changes nothing, the reason neither.
  const begun = REASONS.find((r) => status.phase === 'Closing' && r === status.stoppedReason);
  const stoppedReason = desired === 'Cancelled' ? 'Cancelled' : asked ? 'Closed' : (begun ?? 'Idle');
  if (seen.pod.kind !== 'Present') return closedNow(life, stoppedReason);
  return {
    phase: 'Closing',
    ...closingWith(life),
    ...(toldWhy(life) ? {keepConditions: true} : {}),
    changes: {
      stoppedReason,
      ...(status.phase === 'Closing' ? {} : {timeline: withStep(status.timeline, 'Closing', seen.now)}),
    },
  };
}

/** Whether the end of the running turn is waited for, and what may keep it from coming. */
function closingWith(life: LifeSeen): Pick<Life, 'ready' | 'conditions' | 'steps' | 'outcome'> {
  const {seen, queue} = life;
  const pod = podOf(life);
  const asks = queue.active !== undefined && seen.session.spec.desired !== 'Cancelled';
  // What goes, ended, changed or is not heard any more never ends a turn: with the pod it ends as unknown.
  const fault = asks ? (goingPod(life) ?? changedPod(life) ?? podFault(life)) : undefined;
  const waits = asks && fault === undefined;
  const late = lateness(life, true);
  // What is known best comes first, and that alone stands in Ready, too.
  const hints = waits ? [...addressMoved(seen, true), ...late.conditions] : [];
  const goal = waits ? 'the session closes when the running turn has ended' : 'the pod is being ended';
  const given = fault === undefined ? goal : `${fault.message}; ${goal}, and what its turn did is unknown`;
  const ready = (message: string) => ({status: 'False' as const, reason: fault?.reason ?? 'Closing', message});
  const base = {steps: waits ? [] : deletePod(seen), outcome: waits ? atFirst(silentLeft(life), late.leftMs) : done};
  // Nothing goes on until the node is back or somebody says that it is dead.
  if (pod !== undefined && seen.node === 'Unreachable') {
    const message = `${given}, but node ${pod.spec.nodeName ?? ''} does not answer; if it is dead: ${forceDeleteCommand(pod)}`;
    const silent = {type: 'NodeUnreachable', reason: 'NodeUnreachable', message} as const;
    return {...base, ready: ready(message), conditions: [silent, ...hints]};
  }
  const why = hints.slice(0, 1).map((c) => c.message);
  return {...base, ready: ready([given, ...why].join(', but ')), conditions: hints};
}

/** The pod goes for a fault that Ready names already: that it is being deleted says less. */
function toldWhy(life: LifeSeen): boolean {
  const {seen, status} = life;
  if (status.phase !== 'Closing' || seen.node !== 'Fine' || goingPod(life) === undefined) return false;
  const told = status.conditions?.find((c) => c.type === 'Ready')?.reason;
  return told !== undefined && told !== 'Closing';
}

function closedNow(life: LifeSeen, stoppedReason: (typeof REASONS)[number]): Life {
  const {seen, status} = life;
  return {
    phase: 'Closed',
    ...endedAs(life, stoppedReason),
    steps: [],
    changes: {
      pod: undefined,
      stoppedReason,
      finishedAt: wholeSeconds(seen.now),
      idleSince: undefined,
      startingSince: undefined,
      heldSince: undefined,
      timeline: withStep(status.timeline, 'Closed', seen.now, stoppedReason),
    },
    outcome: wait(ttlLeft(life, seen.now)),
  };
}

/** A Session ends once: whoever wants something else of it afterwards is told that this cannot be had. */
function endedAs(
  {seen}: LifeSeen,
  stoppedReason: (typeof REASONS)[number],
): Pick<Life, 'ready' | 'conditions' | 'stalled'> {
  const {desired} = seen.session.spec;
  const reason = stoppedReason === 'Cancelled' ? 'Cancelled' : 'Closed';
  const message = {
    Cancelled: 'the session was cancelled',
    Closed: 'the session was closed',
    Idle: 'the session was closed after being idle for idle.closeAfter of the Agent',
  }[stoppedReason];
  const complete = {type: 'Complete', reason, message} as const;
  // Who asked for no end and got that of the Agent's limit has asked for nothing that did not come.
  const asked = desired === 'Closed' || desired === 'Cancelled' || (stoppedReason === 'Idle' && desired !== 'Archived');
  if (asked) return {ready: {status: 'True', reason, message}, conditions: [complete]};
  const final = `${message}, for good: spec.desired ${desired} cannot bring it back. Next: start another Session; set spec.desired to Closed, or delete this one`;
  return {
    ready: {status: 'False', reason: 'ClosedForGood', message: final},
    conditions: [complete],
    // Not on its way to what is desired.
    stalled: true,
  };
}

/** Put away after the running turn: the volume stays, and no time limit deletes it. */
function archived(life: LifeSeen): Life | undefined {
  const {seen, queue, status} = life;
  if (seen.session.spec.desired !== 'Archived') return undefined;
  if (queue.active !== undefined && seen.pod.kind === 'Present') return undefined;
  const fresh = status.phase !== 'Archived';
  return {
    phase: 'Archived',
    ready: {status: 'True', reason: 'Archived', message: 'put away; set spec.desired to Active to bring it back'},
    steps: deletePod(seen),
    changes: {
      pod: podLeft(life),
      stoppedReason: 'Archived',
      finishedAt: undefined,
      idleSince: undefined,
      startingSince: undefined,
      heldSince: undefined,
      ...(fresh ? {timeline: withStep(status.timeline, 'Archived', seen.now)} : {}),
    },
    outcome: done,
  };
}

/** A failed Session waits for `restart`; its pod goes, and it is deleted when its time is over. */
function failed(life: LifeSeen): Life | undefined {
  const {seen, status} = life;
  if (status.phase !== 'Failed' || seen.session.spec.restart > (status.restart ?? 0)) return undefined;
  const over = afterTime(life);
  return {
    phase: 'Failed',
    ready: {status: 'False', reason: 'StartFailed', message: ''},
    keepConditions: true,
    changes: {pod: podLeft(life)},
    steps: [...deletePod(seen), ...over.steps],
    outcome: over.outcome,
  };
}

function afterTime(life: LifeSeen): {steps: Step[]; outcome: Life['outcome']} {
  const remaining = ttlLeft(life, new Date(life.status.finishedAt ?? life.seen.now));
  return remaining > 0 ? {steps: [], outcome: wait(remaining)} : {steps: [{do: 'DeleteSession'}], outcome: done};
}

function idleForTooLong({seen, queue, status}: LifeSeen): boolean {
  if (queue.runnable || status.phase === 'Archived') return false;
  const remaining = left(status.idleSince, seen.current?.data.spec.idle.closeAfter, seen.now);
  return remaining !== undefined && remaining <= 0;
}
