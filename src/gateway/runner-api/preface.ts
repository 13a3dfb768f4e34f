import type {QuestionObject, TurnObject} from '../../api/v1alpha1/index.ts';

/** Phases of turns that the agent was given. */
const RAN = ['Completed', 'Failed', 'Interrupted'] as const;

/**
 * What the agent is told before the prompt: how its last turn ended if it cannot know, and answers that came when it no
 * longer waited. Only the turn just before counts, so that everything is said once.
 */
export function preface(
  turn: TurnObject,
  turns: readonly TurnObject[],
  questions: readonly QuestionObject[],
): string[] {
  const before = turns
    .filter((t) => sequence(t) < sequence(turn) && RAN.some((phase) => phase === t.status?.phase))
    .sort((a, b) => sequence(b) - sequence(a))[0];
  if (before === undefined) return [];
  return [...endOf(before), ...lateAnswers(before, questions)];
}

function sequence(turn: TurnObject): number {
  return turn.status?.sequence ?? 0;
}

function endOf(before: TurnObject): string[] {
  const number = sequence(before);
  if (before.status?.phase === 'Interrupted') {
    return [`Turn ${number} was interrupted before you finished it; what you had begun may be half done.`];
  }
  if (before.status?.error?.code === 'outcome_unknown') {
    return [
      `Turn ${number} broke off and nobody knows how far you got: check what is done before you do anything again.`,
    ];
  }
  return [];
}

function lateAnswers(before: TurnObject, questions: readonly QuestionObject[]): string[] {
  return questions
    .filter((q) => q.spec.turn === before.metadata.name && q.spec.requestId !== undefined)
    .filter((q) => q.status?.phase === 'Answered' && q.status.deliveredAt === undefined)
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map((q) => `Your question "${q.spec.text}" was answered after that turn had ended: ${answerText(q)}`);
}

function answerText({spec: {answer, options}}: QuestionObject): string {
  const chosen = options?.find((o) => o.id === answer?.option);
  return chosen?.label ?? answer?.option ?? answer?.text ?? answer?.content ?? '';
}
