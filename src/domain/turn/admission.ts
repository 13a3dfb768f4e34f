import {MAX_QUEUED} from '../../api/v1alpha1/agent.ts';
import type {TurnObject} from '../../api/v1alpha1/index.ts';
import {compareVersions} from '../../api/version.ts';
import type {TurnCode} from './codes.ts';
import {inputBytes, MAX_INPUT_BYTES} from './input.ts';
import {isTerminal} from './status.ts';

/** Codes of turns that never run. */
export type RefusalCode = Extract<
  TurnCode,
  'session_closed' | 'session_replaced' | 'input_too_large' | 'queue_full' | 'withdrawn'
>;

/** Why a turn is cancelled before it runs. */
export interface Refusal {
  turn: TurnObject;
  code: RefusalCode;
  message: string;
}

/** One entry of `status.admitted`. */
export interface Admitted {
  name: string;
  uid: string;
  sequence: number;
}

/** What decides about taking turns into the queue of one Session. */
export interface AdmissionSeen {
  sessionUid: string;
  turns: readonly TurnObject[];
  admitted: readonly Admitted[];
  activeUid: string | undefined;
  lastSequence: number;
  /** The initial turn comes first, whatever the clocks say. */
  initialTurnUid: string | undefined;
  /** Why no turn is taken any more, for people; undefined = open. */
  closed: string | undefined;
  /** Turns that are queued already go too. */
  drop: boolean;
  /** Most turns that may wait. */
  limit: number;
}

/** The queue after this look: who is in it, who is refused. */
export interface Admission {
  /** Turns that have a number and have not ended, the active one among them. */
  admitted: Admitted[];
  lastSequence: number;
  refused: Refusal[];
  /** Admitted turns that were found ended. */
  ended: TurnObject[];
}

/** Decides which turns are in the queue of a Session: accepted ones get the next number, the others a stable code. */
export function admit(seen: AdmissionSeen): Admission {
  const refused: Refusal[] = [];
  const kept: Admitted[] = [];
  const ended: TurnObject[] = [];
  for (const entry of seen.admitted) {
    const turn = seen.turns.find((t) => t.metadata.uid === entry.uid);
    if (turn === undefined) continue;
    if (isTerminal(turn)) {
      ended.push(turn);
      continue;
    }
    const refusal = entry.uid === seen.activeUid ? undefined : queuedRefusal(turn, seen);
    if (refusal === undefined) kept.push(entry);
    else refused.push(refusal);
  }
  let lastSequence = seen.lastSequence;
  for (const turn of arrivals(seen)) {
    const waiting = kept.filter((e) => e.uid !== seen.activeUid).length;
    const refusal = arrivalRefusal(turn, seen, waiting);
    if (refusal !== undefined) refused.push(refusal);
    else kept.push({name: turn.metadata.name, uid: turn.metadata.uid, sequence: ++lastSequence});
  }
  return {admitted: kept, lastSequence, refused, ended};
}

/**
 * Turns without a number that have not ended, in the order in which they are admitted: as they were made. Creation times are
 * whole seconds; within one the resourceVersion decides, which nobody but an editor has changed before admission.
 */
function arrivals(seen: AdmissionSeen): TurnObject[] {
  const known = new Set(seen.admitted.map((e) => e.uid));
  const first = (turn: TurnObject) => (turn.metadata.uid === seen.initialTurnUid ? 0 : 1);
  return seen.turns
    .filter((t) => !known.has(t.metadata.uid) && waits(t))
    .sort(
      (a, b) =>
        first(a) - first(b) ||
        compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
        compareVersions(a.metadata.resourceVersion, b.metadata.resourceVersion),
    );
}

/** One that ran once is never taken again, whatever happened to the list. */
function waits(turn: TurnObject): boolean {
  return !isTerminal(turn) && turn.status?.phase !== 'Running' && turn.metadata.deletionTimestamp === undefined;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A queued turn leaves the queue when it is taken back, deleted, or the Session ends. */
function queuedRefusal(turn: TurnObject, seen: AdmissionSeen): Refusal | undefined {
  if (turn.spec.stop !== undefined || turn.metadata.deletionTimestamp !== undefined) {
    return {turn, code: 'withdrawn', message: 'taken back before it ran'};
  }
  if (seen.closed !== undefined && seen.drop) return {turn, code: 'session_closed', message: seen.closed};
  return undefined;
}

/** UID of the Session that a turn was made for, where it is recorded: at admission, or by who made it as owner. */
export function recordedSession({metadata, status}: TurnObject): string | undefined {
  return status?.sessionUID ?? metadata.ownerReferences?.find((o) => o.kind === 'Session')?.uid;
}

function arrivalRefusal(turn: TurnObject, seen: AdmissionSeen, waiting: number): Refusal | undefined {
  const recorded = recordedSession(turn);
  if (recorded !== undefined && recorded !== seen.sessionUid) {
    const message = `made for an earlier Session named ${turn.spec.session} (UID ${recorded}); create the turn again`;
    return {turn, code: 'session_replaced', message};
  }
  // A prompt that was stored with its Session waits for `restart` like every turn that was queued before the failure.
  const first = turn.metadata.uid === seen.initialTurnUid && !seen.drop;
  if (seen.closed !== undefined && !first) return {turn, code: 'session_closed', message: seen.closed};
  if (turn.spec.stop !== undefined) return {turn, code: 'withdrawn', message: 'taken back before it ran'};
  const bytes = inputBytes(turn);
  if (bytes > MAX_INPUT_BYTES) {
    const message = `input: all texts together take ${bytes} bytes; at most ${MAX_INPUT_BYTES} are allowed. Put the text into an immutable ConfigMap and name it in input[].from`;
    return {turn, code: 'input_too_large', message};
  }
  if (waiting >= seen.limit) {
    const more = seen.limit < MAX_QUEUED ? ', or raise the limit' : '';
    const message = `${waiting} turns wait already; limits.queued of the Agent allows ${seen.limit}. Wait, or withdraw one${more}`;
    return {turn, code: 'queue_full', message};
  }
  return undefined;
}
