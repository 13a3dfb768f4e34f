import type {QuestionObject} from '../../api/v1alpha1/index.ts';

/** The question as it would be, had it been taken back and not deleted. */
export function takenBack(question: QuestionObject): QuestionObject {
  return {...question, status: {...question.status, phase: 'Withdrawn'}};
}
