import type {Condition} from '../../api/kube-object.ts';
import type {Pod} from '../../api/kube-pod.ts';
import {done, type Outcome, soonest} from '../../api/outcome.ts';
import type {SessionStatus, TurnObject} from '../../api/v1alpha1/index.ts';
import {ARCHIVE_TROUBLE} from '../archive.ts';
import {freshConditions} from '../fresh-conditions.ts';
import {recordedSession} from '../turn/admission.ts';
import {saysSessionFailed} from '../turn/conditions.ts';
import {beyondHistory} from '../turn/history.ts';
import {heldStatus, observedEdit, queuedStatus, runningEdit, runningStatus, type TurnEnd} from '../turn/status.ts';
import {tokensLeft} from './account.ts';
import {identityOf} from './identity.ts';
import {atFirst, type Life, type LifeRule, type LifeSeen} from './life.ts';
import {ENDING} from './life-end.ts';
import {WITH_POD} from './life-pod.ts';
import {RESTING} from './life-rest.ts';
import {STARTING} from './life-start.ts';
import {isPodName, podName} from './pod.ts';
import {planQueue, type Queue} from './queue.ts';
import {findingConditions, reported} from './runner-report.ts';
import {podUid, type SessionSeen} from './seen.ts';
import type {Note, Step, TurnWrite} from './steps.ts';

/** Everything a reconcile of a Session does, decided before the first write. */
export interface SessionPlan {
  /** In order, before the status. */
  steps: Step[];
  /** The whole status, before what the steps bring is put in. */
  status: SessionStatus;
  /** After the status. */
  turnWrites: TurnWrite[];
  /** Turns that the gateway has ended since the last look. */
  ended: TurnObject[];
  /** Turns that get an owner reference, last of all. */
  adopt: TurnObject[];
  notes: Note[];
  outcome: Outcome;
}

// First match decides; the last group always has an answer.
const RULES: readonly LifeRule[] = [...ENDING, ...RESTING, ...STARTING, ...WITH_POD];

/** Decides everything about one Session from what was seen. */
export function planSession(seen: SessionSeen): SessionPlan {
  const status = seen.session.status ?? {};
  // Owner references bring everything down; a Session on its way out gets nothing new.
  if (seen.session.metadata.deletionTimestamp !== undefined) {
    return {steps: [], status, turnWrites: [], ended: [], adopt: [], notes: [], outcome: done};
  }
  const queue = planQueue(seen);
  const life = decide({seen, queue, status});
  const active = activeAfter(queue, life);
  const unwanted = strays(seen, life);
  return {
    steps: [
      ...unwanted.map((pod): Step => ({do: 'DeletePod', name: pod.metadata.name, uid: pod.metadata.uid})),
      ...life.steps,
      ...(queue.initial ? [{do: 'CreateInitialTurn'} as const] : []),
      // Last, because they wait for the archive: nothing else is held up while it is down.
      ...turnSteps(seen, queue),
    ],
    status: statusAfter({seen, queue, status}, life, active),
    turnWrites: turnWrites(seen, queue, life),
    ended: queue.ended,
    adopt: adoptable(seen, queue),
    notes: [...(life.notes ?? []), ...unwanted.flatMap((pod) => foreign(seen, pod))],
    outcome: soonest(life.outcome, atFirst(tokensLeft(seen))),
  };
}

function decide(life: LifeSeen): Life {
  for (const rule of RULES) {
    const decided = rule(life);
    if (decided !== undefined) return decided;
  }
  throw new Error('no rule decided about the session');
}

/** Ends of turns, and old ones that go. */
function turnSteps(seen: SessionSeen, queue: Queue): Step[] {
  const {session, now} = seen;
  const sessionUid = session.metadata.uid;
  const steps: Step[] = queue.refused.map(({turn, code, message}) => {
    const end: TurnEnd = {phase: 'Cancelled', code, message, sessionUid: recordedSession(turn) ?? sessionUid, now};
    return {do: 'EndTurn', turn, end};
  });
  for (const lost of queue.lost) steps.push({do: 'EndTurn', ...lost});
  const mine = seen.turns.filter((t) => t.status?.sessionUID === sessionUid);
  for (const turn of beyondHistory(mine, session.spec.turnHistoryLimit)) steps.push({do: 'DeleteTurn', turn});
  return steps;
}

/**
 * Pods of ours that are not the present one: at most one pod per Session in the API. One that was made and not recorded is
 * taken while its attempt starts; a Session that rests, ends or has failed meanwhile has no use for it.
 */
function strays({session, strays}: SessionSeen, life: Life): Pod[] {
  const starts =
    session.status?.phase === 'Starting' && life.phase === 'Starting' && life.changes.attempt === undefined;
  const expected = starts ? podName(identityOf(session), session.status?.attempt ?? 0) : undefined;
  return strays.filter((pod) => pod.metadata.deletionTimestamp === undefined && pod.metadata.name !== expected);
}

/** Whoever made a pod that only claims to be one of a Session reads why it went; what we left behind ourselves is no news. */
function foreign({session}: SessionSeen, {metadata: {name}}: Pod): Note[] {
  if (isPodName(identityOf(session), name)) return [];
  const note = `pod ${name} has this Session as its owner and was not made by the platform: it is deleted. Take the owner reference away from yours`;
  return [{reason: 'PodForeign', action: 'DeletePod', note}];
}

function activeAfter(queue: Queue, life: Life): Queue['active'] {
  if (queue.active !== undefined) return queue.active;
  return life.podUid === undefined ? undefined : queue.waiting[0];
}

function turnWrites(seen: SessionSeen, queue: Queue, life: Life): TurnWrite[] {
  const {session, now} = seen;
  const active = activeAfter(queue, life);
  const runs = queue.active?.turn.status?.phase === 'Running' ? queue.active.entry.uid : undefined;
  const all = [...(queue.active === undefined ? [] : [queue.active]), ...queue.waiting];
  const held = life.phase === 'Failed';
  return all.flatMap(({entry, turn}): TurnWrite[] => {
    const interrupts = turn.spec.delivery === 'Interrupt' && turn.status?.phase === undefined ? runs : undefined;
    const place = {sessionUid: session.metadata.uid, sequence: entry.sequence, interrupts, now};
    const phase = turn.status?.phase;
    const edited = phase === 'Running' ? runningEdit(turn, now) : observedEdit(turn);
    const observed = edited === undefined ? [] : [{turn, status: edited}];
    if (phase === 'Running') return observed;
    if (entry.uid === active?.entry.uid && life.podUid !== undefined) {
      return [{turn, status: runningStatus(turn, {...place, podUid: life.podUid})}];
    }
    if (phase === 'Queued' && saysSessionFailed(turn) === held) return observed;
    return [{turn, status: held ? heldStatus(turn, place) : queuedStatus(turn, place)}];
  });
}

/** Turns made with plain kubectl belong to nobody yet; refused ones go with the Session too. */
function adoptable(seen: SessionSeen, queue: Queue): TurnObject[] {
  const admitted = new Set(queue.admitted.map((e) => e.uid));
  const refused = new Set(queue.refused.flatMap((r) => (r.code === 'session_replaced' ? [] : [r.turn.metadata.uid])));
  const ours = ({metadata: {uid}, status}: TurnObject) =>
    admitted.has(uid) || refused.has(uid) || status?.sessionUID === seen.session.metadata.uid;
  return seen.turns.filter(
    (t) =>
      ours(t) &&
      t.metadata.deletionTimestamp === undefined &&
      !(t.metadata.ownerReferences ?? []).some((o) => o.kind === 'Session'),
  );
}

function statusAfter(lifeSeen: LifeSeen, life: Life, active: Queue['active']): SessionStatus {
  const {seen, queue, status} = lifeSeen;
  const waits = queue.waiting.filter((w) => w !== active).length;
  const {activeTurn: _active, admitted: _admitted, ...rest} = status;
  const merged: {[K in keyof SessionStatus]?: SessionStatus[K] | undefined} = {...rest, ...life.changes};
  return defined({
    ...merged,
    observedGeneration: seen.session.metadata.generation ?? 0,
    phase: life.phase,
    lastSequence: queue.lastSequence,
    activeTurn: active?.entry,
    admitted: queue.admitted.length === 0 ? undefined : queue.admitted,
    queued: waits,
    turns: (status.turns ?? 0) + queue.ended.length + queue.lost.length,
    questions: queue.open,
    conditions: life.keepConditions === true ? keptConditions(lifeSeen) : conditions(lifeSeen, life),
  });
}

/** Word for word, but for the edit that they were looked at with: nothing follows from it, and that has to be seen too. */
function keptConditions({seen, status}: LifeSeen): Condition[] | undefined {
  const {generation} = seen.session.metadata;
  // Not the reason why it ended: it is said anew for as long as it holds.
  const kept = status.conditions?.filter((c) => c.type !== ARCHIVE_TROUBLE.type);
  return kept?.map((c) => (generation === undefined ? c : {...c, observedGeneration: generation}));
}

function conditions({seen, status}: LifeSeen, life: Life): Condition[] {
  const observedGeneration = seen.session.metadata.generation ?? 0;
  const {ready} = life;
  const settled = ready.status === 'True' || life.stalled === true;
  const abnormal = (type: string) => ({...ready, type, status: 'True' as const, observedGeneration});
  const uid = podUid(seen);
  const findings = uid === undefined || life.phase === 'Failed' ? [] : findingConditions(reported(status, uid));
  const extra = [...findings, ...(life.conditions ?? [])].map((c) => ({
    ...c,
    status: 'True' as const,
    observedGeneration,
  }));
  const all = [
    {...ready, type: 'Ready', observedGeneration},
    ...(settled ? [] : [abnormal('Reconciling')]),
    ...(life.stalled === true ? [abnormal('Stalled')] : []),
    ...extra,
  ];
  return freshConditions(status.conditions, all, seen.now);
}

/** Without the members that are undefined. */
function defined(status: {[K in keyof SessionStatus]?: SessionStatus[K] | undefined}): SessionStatus {
  return status;
}
