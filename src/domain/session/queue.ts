import {MAX_QUEUED} from '../../api/v1alpha1/agent.ts';
import type {QuestionObject, TurnObject} from '../../api/v1alpha1/index.ts';
import {answerProblems} from '../question/form-problems.ts';
import {type Admission, type Admitted, admit} from '../turn/admission.ts';
import {inOrder} from '../turn/order.ts';
import {isTerminal, type TurnEnd} from '../turn/status.ts';
import {wantsInitialTurn} from './initial-turn.ts';
import {podUid, type SessionSeen} from './seen.ts';

/** How the queue of a Session stands, before it is decided what its pod does. */
export interface Queue extends Admission {
  /** The turn that runs, if it is to go on. */
  active: {entry: Admitted; turn: TurnObject} | undefined;
  /** Turns that ran and whose pod is gone. */
  lost: {turn: TurnObject; end: TurnEnd}[];
  /** The first turn is still to be made. */
  initial: boolean;
  /** Queued turns in the order in which they run. */
  waiting: {entry: Admitted; turn: TurnObject}[];
  /** Something runs, or is to be run. */
  runnable: boolean;
  /** Open questions that hold the pod, and all open questions. */
  holding: number;
  open: number;
}

/** Admission, order and the active turn: pure bookkeeping of `status.admitted` and `status.activeTurn`. */
export function planQueue(seen: SessionSeen): Queue {
  const {session, turns} = seen;
  const status = session.status;
  const activeEntry = status?.activeTurn;
  const activeTurn = turns.find((t) => t.metadata.uid === activeEntry?.uid);
  const lost = turns.flatMap((turn) => lostTurn(seen, turn) ?? []);
  const isLost = (uid: string | undefined) => lost.some((l) => l.turn.metadata.uid === uid);
  const closed = closedBecause(seen);
  // One that was chosen and not yet handed over has not begun: a Session that closes refuses it like the others.
  const begins = closed?.drop !== true || activeTurn?.status?.phase === 'Running';
  const goesOn = activeTurn !== undefined && !isLost(activeTurn.metadata.uid) && begins && runsOn(seen, activeTurn);
  const initial = closed === undefined && wantsInitialTurn(session);
  const admission = admit({
    sessionUid: session.metadata.uid,
    // The prompt gets the first number: until its turn is made, nothing else is taken.
    turns: initial ? [] : turns,
    admitted: (status?.admitted ?? []).filter((e) => !isLost(e.uid)),
    activeUid: goesOn ? activeTurn.metadata.uid : undefined,
    lastSequence: status?.lastSequence ?? 0,
    initialTurnUid: status?.initialTurn?.uid,
    closed: closed?.message,
    drop: closed?.drop ?? false,
    limit: limitOf(seen),
  });
  const withTurns = admission.admitted.flatMap((entry) => {
    const turn = turns.find((t) => t.metadata.uid === entry.uid);
    return turn === undefined ? [] : [{entry, turn}];
  });
  const active = goesOn ? withTurns.find((w) => w.entry.uid === activeTurn.metadata.uid) : undefined;
  const rest = withTurns.filter((w) => w !== active).map(({entry, turn}) => ({turn, entry, sequence: entry.sequence}));
  const waiting = inOrder(rest).flatMap(({turn}) => rest.filter((w) => w.turn === turn));
  const open = seen.questions.filter(isOpen);
  return {
    ...admission,
    active,
    lost,
    initial,
    waiting,
    runnable: active !== undefined || waiting.length > 0 || initial,
    holding: open.filter((q) => active !== undefined && q.spec.turn === active.entry.name).length,
    open: open.length,
  };
}

/** True while somebody may still answer: nobody has, or the answer does not fit. */
export function isOpen(question: QuestionObject): boolean {
  const phase = question.status?.phase;
  if (phase !== undefined && phase !== 'Open') return false;
  return question.spec.answer === undefined || answerProblems(question).length > 0;
}

/** Why no turn is taken any more; `drop` = queued ones go too. A failed Session keeps its queue: `restart` goes on with it. */
function closedBecause({session}: SessionSeen): {message: string; drop: boolean} | undefined {
  const {name} = session.metadata;
  const {desired} = session.spec;
  const phase = session.status?.phase;
  if (phase === 'Closed' || phase === 'Closing' || desired === 'Closed' || desired === 'Cancelled') {
    return {message: `Session ${name} is closed or closing; start another session`, drop: true};
  }
  if (desired === 'Archived') {
    return {message: `Session ${name} is archived; set spec.desired to Active, then send it again`, drop: true};
  }
  if (phase === 'Failed' && session.spec.restart <= (session.status?.restart ?? 0)) {
    return {message: `Session ${name} has failed; mend the cause, raise spec.restart, then send it again`, drop: false};
  }
  return undefined;
}

/** A turn that was handed to a pod which is not there any more: nobody knows what it did. */
function lostTurn(seen: SessionSeen, turn: TurnObject): Queue['lost'][number] | undefined {
  if (turn.status?.phase !== 'Running' || turn.status.sessionUID !== seen.session.metadata.uid) return undefined;
  const present = podUid(seen);
  if (present !== undefined && turn.status.podUID === present) return undefined;
  const {session, now} = seen;
  const base = {sessionUid: session.metadata.uid, now};
  if (session.spec.desired === 'Cancelled') {
    const message = 'the Session was cancelled while the turn ran';
    return {turn, end: {...base, phase: 'Interrupted', code: 'session_closed', message}};
  }
  const message = `the pod went away while the turn ran: what it did is unknown, and it is not repeated. Look at transcript and workspace, then send it again if that is safe`;
  return {turn, end: {...base, phase: 'Failed', code: 'outcome_unknown', message}};
}

/** The active turn stays active while it runs; one that was chosen but not handed over goes back into the queue when its pod is gone. */
function runsOn(seen: SessionSeen, turn: TurnObject): boolean {
  if (isTerminal(turn)) return false;
  if (turn.status?.phase === 'Running') return true;
  const usable = seen.pod.kind === 'Present' && seen.pod.pod.metadata.deletionTimestamp === undefined;
  return usable && turn.spec.stop === undefined && turn.metadata.deletionTimestamp === undefined;
}

function limitOf(seen: SessionSeen): number {
  const revision = seen.choice.kind === 'Found' ? seen.choice.revision : seen.current;
  return revision?.data.spec.limits.queued ?? MAX_QUEUED;
}
