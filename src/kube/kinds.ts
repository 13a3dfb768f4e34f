import {
  Agent,
  type AgentObject,
  Question,
  type QuestionObject,
  Session,
  type SessionObject,
  Turn,
  type TurnObject,
} from '../api/v1alpha1/index.ts';
import {kubeResource, type Resource} from './resource.ts';

/** agents.carrel.dev. */
export const Agents: Resource<AgentObject> = kubeResource(namesOf(Agent));
/** sessions.carrel.dev. */
export const Sessions: Resource<SessionObject> = kubeResource(namesOf(Session));
/** turns.carrel.dev. */
export const Turns: Resource<TurnObject> = kubeResource(namesOf(Turn));
/** questions.carrel.dev. */
export const Questions: Resource<QuestionObject> = kubeResource(namesOf(Question));

interface Names {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

function namesOf({group, version, kind, plural, namespaced}: Names): Names {
  return {group, version, kind, plural, namespaced};
}
