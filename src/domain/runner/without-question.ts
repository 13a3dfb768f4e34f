import type {Desired} from '../../api/wire/runner.ts';

/** A request of the agent that waits, as the runner knows it. */
export type WaitingRequest = {
  requestId: string;
  turnUid: string;
  /** The gateway has acknowledged it: it has made the Question, or never will. */
  acknowledged: boolean;
};

/**
 * Requests that have no Question: it was deleted, or refused. A document that does not tell which Questions wait, or that is
 * about another turn, condemns none. An answer is no absence: it is handed over.
 */
export function withoutQuestion(
  {turn, questions, answers}: Pick<Desired, 'turn' | 'questions' | 'answers'>,
  waiting: readonly WaitingRequest[],
): ReadonlySet<string> {
  if (questions === undefined) return new Set();
  const known = new Set([...questions, ...answers.map((answer) => answer.requestId)]);
  const missing = waiting.filter((w) => w.acknowledged && w.turnUid === turn?.uid && !known.has(w.requestId));
  return new Set(missing.map((w) => w.requestId));
}
