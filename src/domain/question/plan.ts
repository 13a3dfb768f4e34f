// Open --(answer that fits)--> Answered --(its turn is over, not delivered)--> a Turn that quotes it, once
//   |--(expiresAt)-----> Expired
//   `--(nobody waits, or it is deleted)--> Withdrawn     an Ask outlives its turn and its pod, the other kinds do not
import {type ConditionState, wholeSeconds} from '../../api/condition-list.ts';
import type {Manifest} from '../../api/kube-object.ts';
import {done, type Outcome, wait} from '../../api/outcome.ts';
import {
  ANSWER_INVALID,
  QUESTION_TERMINAL,
  type QuestionObject,
  type QuestionReason,
  type QuestionStatus,
  type SessionObject,
  type TurnObject,
} from '../../api/v1alpha1/index.ts';
import {freshConditions} from '../fresh-conditions.ts';
import {TAKEN_RETRY_MS, takenMessage} from '../name-taken.ts';
import {cutBytes} from '../status-size.ts';
import {isTerminal} from '../turn/status.ts';
import {answerHint} from './answer-command.ts';
import {answerProblems} from './form-problems.ts';
import {lateAnswer} from './late-answer.ts';

/** What decides about a Question. */
export interface QuestionSeen {
  question: QuestionObject;
  /** The Session of that name, if it is the one that asked. */
  session: SessionObject | undefined;
  turn: TurnObject | undefined;
  now: Date;
}

/** What to do: at most one Turn to create, and the whole status. */
export interface QuestionPlan {
  create: Manifest<TurnObject> | undefined;
  status: QuestionStatus;
  outcome: Outcome;
}

type Phase = NonNullable<QuestionStatus['phase']>;

/** Decides the phase of a Question, and how an answer that came late reaches the agent. */
export function planQuestion(seen: QuestionSeen): QuestionPlan {
  const {question, session, now} = seen;
  const problems = answerProblems(question);
  const [phase, message] = phaseOf(seen, problems);
  const before = question.status;
  const late =
    phase === 'Answered' && isLate(seen) && session !== undefined ? lateAnswer(question, session) : undefined;
  const status: QuestionStatus = {
    ...before,
    observedGeneration: question.metadata.generation ?? 0,
    phase,
    ...(late === undefined ? {} : {deliveredAt: wholeSeconds(now)}),
    conditions: conditionsOf(question, {phase, message, problems, now}),
  };
  const expires = question.spec.expiresAt;
  const outcome =
    phase === 'Open' && expires !== undefined ? wait(Math.max(0, Date.parse(expires) - now.getTime())) : done;
  return {create: late, status, outcome};
}

/** The plan where somebody else's object has the name of the Turn that brings a late answer: it is kept and tried again. */
export function answerWaits(question: QuestionObject, {status}: QuestionPlan, turn: string, now: Date): QuestionPlan {
  const {deliveredAt: _notYet, ...rest} = status;
  const message = takenMessage('Turn', turn, 'the turn that brings the answer');
  const reason = 'NameTaken' satisfies QuestionReason;
  const observedGeneration = question.metadata.generation ?? 0;
  const waits = {type: 'Reconciling', status: 'True', reason, message, observedGeneration} as const;
  const conditions = freshConditions(question.status?.conditions, [...(status.conditions ?? []), waits], now);
  return {create: undefined, status: {...rest, conditions}, outcome: wait(TAKEN_RETRY_MS)};
}

function phaseOf(seen: QuestionSeen, problems: readonly string[]): [Phase, string] {
  const {question, now} = seen;
  const {phase} = question.status ?? {};
  if (QUESTION_TERMINAL.some((p) => p === phase)) {
    return [phase ?? 'Withdrawn', question.status?.conditions?.find((c) => c.type === 'Ready')?.message ?? ''];
  }
  const answered = question.spec.answer !== undefined;
  if (answered && problems.length === 0) return ['Answered', `answered by ${question.spec.answeredBy ?? 'somebody'}`];
  // The gateway marks a question that the agent no longer waits for, before anybody has answered.
  if (question.status?.deliveredAt !== undefined) return ['Withdrawn', 'the agent took the question back'];
  // Who deletes it takes it back, also while a finalizer of somebody else keeps the object.
  if (question.metadata.deletionTimestamp !== undefined) return ['Withdrawn', 'somebody deleted the question'];
  const over = nobodyWaits(seen);
  if (over !== undefined) return ['Withdrawn', over];
  const expires = question.spec.expiresAt;
  if (expires !== undefined && Date.parse(expires) <= now.getTime())
    return ['Expired', `${answered ? 'no answer that fits came' : 'nobody answered'} before ${expires}`];
  return ['Open', `answer ${answerHint(question)}`];
}

/** Why nobody waits for the answer any more; undefined while somebody does. */
function nobodyWaits({question, session, turn}: QuestionSeen): string | undefined {
  if (session === undefined) return `Session ${question.spec.session} is gone`;
  if (session.status?.phase === 'Closed' || session.metadata.deletionTimestamp !== undefined)
    return 'the session has ended';
  if (question.spec.kind === 'Ask') return undefined;
  if (turn === undefined || isTerminal(turn)) return `turn ${question.spec.turn} is over`;
  const pod = session.status?.pod?.uid;
  const asked = turn.status?.podUID;
  return asked !== undefined && asked !== pod ? 'the pod that asked is gone' : undefined;
}

/** The agent no longer waits in the call that asked: the answer goes to it as a turn of its own. */
function isLate({question, session, turn}: QuestionSeen): boolean {
  if (question.spec.kind !== 'Ask' || question.status?.deliveredAt !== undefined) return false;
  // A Session that takes no turns now is asked again when it does.
  if (['Closed', 'Closing', 'Failed', 'Archived'].includes(session?.status?.phase ?? '')) return false;
  if (session?.metadata.deletionTimestamp !== undefined) return false;
  return turn === undefined || isTerminal(turn);
}

/** Bytes of the problems that are named: the command that answers again stands behind them, and has to be whole. */
const MAX_PROBLEMS_SHOWN = 384;

/** Why the answer is not taken, and how to give another. */
function invalid(question: QuestionObject, problems: readonly string[]): string {
  const why = cutBytes(problems.join('; '), MAX_PROBLEMS_SHOWN);
  return `the answer does not fit the form: ${why}. Answer again ${answerHint(question)}`;
}

function conditionsOf(
  question: QuestionObject,
  {phase, message, problems, now}: {phase: Phase; message: string; problems: readonly string[]; now: Date},
) {
  const before = question.status?.conditions;
  const observedGeneration = question.metadata.generation ?? 0;
  const base = {reason: phase satisfies QuestionReason, message, observedGeneration};
  const open = phase === 'Open';
  const states: ConditionState[] = [{...base, type: 'Ready', status: open ? 'False' : 'True'}];
  if (open) states.push({...base, type: 'Reconciling', status: 'True'});
  if (open && problems.length > 0) {
    const reason = 'AnswerInvalid' satisfies QuestionReason;
    states.push({...base, type: ANSWER_INVALID, status: 'True', reason, message: invalid(question, problems)});
  }
  return freshConditions(before, states, now);
}
