import {LRUCache} from 'lru-cache';
import type {QuestionObject} from '../../api/v1alpha1/index.ts';
import {takenBack} from '../../domain/question/taken-back.ts';
import type {Cache} from '../../kube/ports.ts';

/** Far more than people delete while agents wait for them; of what falls out, the agent hears at its time limit. */
const MOST = 1_000;

/**
 * Questions that somebody deleted while an agent waited for the answer: no object tells it any more. They count as taken
 * back. Only this replica knows; where the stream of the pod is at another one, that one saw the deletion as well.
 */
export function deletedQuestions(questions: Pick<Cache<QuestionObject>, 'subscribe'>) {
  const deleted = new LRUCache<string, QuestionObject>({max: MOST});
  questions.subscribe(({old, new: now}) => {
    if (old !== undefined && now === undefined && waits(old)) deleted.set(old.metadata.uid, takenBack(old));
  });
  /** Those of this Session, in no order. */
  return (namespace: string | undefined, session: string): QuestionObject[] =>
    [...deleted.values()].filter((q) => q.metadata.namespace === namespace && q.spec.session === session);
}

function waits({status}: QuestionObject): boolean {
  return status?.deliveredAt === undefined && (status?.phase === undefined || status.phase === 'Open');
}
