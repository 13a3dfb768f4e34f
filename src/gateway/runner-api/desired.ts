import type {QuestionObject, SessionObject, TurnObject} from '../../api/v1alpha1/index.ts';
import type {Desired} from '../../api/wire/runner.ts';
import {questionName} from './apply-question.ts';
import {preface} from './preface.ts';

/** Everything that decides what a pod shall be doing. */
export interface DesiredSeen {
  readonly session: SessionObject;
  readonly podUid: string;
  /** Turns and Questions that name the Session; those of an older Session of that name are left out here. */
  readonly turns: readonly TurnObject[];
  readonly questions: readonly QuestionObject[];
  /** These are all: a watch brings what is new. */
  readonly questionsFresh: boolean;
  /** UID of the turn that this stream delivered last. */
  readonly delivered: string | undefined;
}

/** The document without its number, and without the prompt, which is read live. */
export interface DesiredView {
  readonly document: Omit<Desired, 'generation' | 'turn'>;
  readonly turn: {readonly object: TurnObject; readonly preface: string[]} | undefined;
  /** Rises with every change of anything that was looked at: all of it lives in one etcd. */
  readonly version: number;
}

/** What the pod shall be doing, from what the API says. */
export function desiredView(seen: DesiredSeen): DesiredView {
  const {session, podUid} = seen;
  const turns = seen.turns.filter((t) => t.status?.sessionUID === session.metadata.uid);
  const questions = seen.questions.filter((q) => isOf(q, session));
  const running = runningTurn(session, turns, podUid);
  const requests = running === undefined ? [] : requestsOf(session, running, questions);
  const stop = stopOf(seen, turns, running);
  const goal = running?.spec.goal ?? session.spec.goal;
  const agentSessionId = session.status?.runner?.agentSessionId;
  return {
    document: {
      podUid,
      attempt: session.status?.attempt ?? 0,
      session: {name: session.metadata.name, uid: session.metadata.uid, ...(goal === undefined ? {} : {goal})},
      ...(agentSessionId === undefined ? {} : {resume: {agentSessionId}}),
      ...(stop === undefined ? {} : {stop}),
      answers: answersOf(requests),
      ...(running === undefined || !seen.questionsFresh ? {} : {questions: waitingOf(requests)}),
      desired: isEnding(session) ? 'Stop' : 'Run',
    },
    turn: running === undefined ? undefined : {object: running, preface: preface(running, turns, questions)},
    version: Math.max(0, ...[session, ...turns, ...questions].map((o) => Number(o.metadata.resourceVersion))),
  };
}

function isOf(question: QuestionObject, session: SessionObject): boolean {
  return question.metadata.ownerReferences?.some((o) => o.uid === session.metadata.uid) === true;
}

/** The Session's active turn, once it was handed to this pod and while it runs. */
function runningTurn(session: SessionObject, turns: readonly TurnObject[], podUid: string): TurnObject | undefined {
  const active = turns.find((t) => t.metadata.uid === session.status?.activeTurn?.uid);
  return active?.status?.phase === 'Running' && active.status.podUID === podUid ? active : undefined;
}

function isEnding({metadata, spec, status}: SessionObject): boolean {
  const over = ['Closing', 'Closed', 'Archived'].some((phase) => phase === status?.phase);
  return metadata.deletionTimestamp !== undefined || spec.desired === 'Cancelled' || over;
}

// A stop names one turn and can never hit the next.
function stopOf(seen: DesiredSeen, turns: readonly TurnObject[], running: TurnObject | undefined): Desired['stop'] {
  const {session, delivered} = seen;
  if (running !== undefined) {
    const turnUid = running.metadata.uid;
    const interrupting = turns.find((t) => t.status?.interrupts?.turnUID === turnUid);
    const by = interrupting?.spec.author?.name;
    if (interrupting !== undefined) return {turnUid, ...(by === undefined ? {} : {by})};
    const ended = session.metadata.deletionTimestamp !== undefined || running.metadata.deletionTimestamp !== undefined;
    return running.spec.stop === 'Interrupt' || session.spec.desired === 'Cancelled' || ended ? {turnUid} : undefined;
  }
  // A deleted turn has no object that could say stop. One that somebody else ended has: it is missing from the document.
  const missing = [delivered, session.status?.activeTurn?.uid].find(
    (uid) => uid !== undefined && !turns.some((t) => t.metadata.uid === uid),
  );
  return missing === undefined ? undefined : {turnUid: missing};
}

/** A request of the runner, and the Question that the gateway made of it. */
interface Requested {
  readonly id: string;
  readonly question: QuestionObject;
}

/** Those of the turn that the runner does not know the end of. */
function requestsOf(session: SessionObject, turn: TurnObject, questions: readonly QuestionObject[]): Requested[] {
  return questions
    .filter((q) => q.spec.turn === turn.metadata.name && q.status?.deliveredAt === undefined)
    .flatMap((question) => {
      const id = question.spec.requestId;
      if (id === undefined) return [];
      // By the name that the gateway gave it: a copy of a Question under another name is nobody's answer.
      const made = questionName(session, {turnUid: turn.metadata.uid, requestId: id});
      return question.metadata.name === made ? [{id, question}] : [];
    })
    .sort((a, b) => (a.question.metadata.name < b.question.metadata.name ? -1 : 1));
}

/** Requests that wait: at most as many as a turn may have Questions. */
function waitingOf(requests: readonly Requested[]): string[] {
  return requests.filter(({question}) => (question.status?.phase ?? 'Open') === 'Open').map(({id}) => id);
}

function answersOf(requests: readonly Requested[]): Desired['answers'] {
  return requests.flatMap(({id, question: {metadata, spec, status}}) => {
    const outcome = status?.phase;
    if (outcome === undefined || outcome === 'Open') return [];
    const {option, text, content} = spec.answer ?? {};
    const given = outcome === 'Answered' ? {option, text, content} : {};
    return [{question: metadata.name, uid: metadata.uid, requestId: id, outcome, ...given}];
  });
}
