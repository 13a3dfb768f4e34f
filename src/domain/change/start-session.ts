import type {Manifest} from '../../api/kube-object.ts';
import {ANNOTATION_STARTED_BY, LABEL_MANAGED_BY, MANAGED_BY} from '../../api/meta.ts';
import {type AgentObject, Session, type SessionObject} from '../../api/v1alpha1/index.ts';
import {Refusal} from '../refusal.ts';
import {refuseTooLarge} from './turn.ts';

/** What a caller asks for. */
export interface StartRequest {
  readonly prompt?: string | undefined;
  readonly title?: string | undefined;
  readonly goal?: string | undefined;
  readonly model?: string | undefined;
}

/** Facts that the caller cannot choose freely. */
export interface StartFacts {
  readonly name: string;
  readonly namespace: string;
  readonly agent: AgentObject;
  readonly owner: string;
  /** The Session that the new one belongs to. */
  readonly parent?: SessionObject | undefined;
  /** Name of the Session whose token the call came with: its agent wrote the prompt. */
  readonly startedBy?: string | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** The Session to create. Refuses a prompt that no Turn can hold, and a model that the Agent does not allow, naming those that it does. */
export function buildSession(request: StartRequest, facts: StartFacts): Manifest<SessionObject> {
  const {agent, parent} = facts;
  if (request.model !== undefined) checkModel(agent, request.model);
  refuseTooLarge(request.prompt ?? '');
  const spec = Session.spec.parse({
    agent: agent.metadata.name,
    owner: facts.owner,
    ...given('prompt', blankless(request.prompt)),
    ...given('title', blankless(request.title)),
    ...given('goal', blankless(request.goal)),
    ...given('model', request.model === undefined ? undefined : {name: request.model}),
    ...given('requester', parent && {session: parent.metadata.name, uid: parent.metadata.uid}),
  });
  const annotations = {...facts.annotations, ...given(ANNOTATION_STARTED_BY, facts.startedBy)};
  return {
    metadata: {
      name: facts.name,
      namespace: facts.namespace,
      labels: {[LABEL_MANAGED_BY]: MANAGED_BY},
      ...(Object.keys(annotations).length === 0 ? {} : {annotations}),
    },
    spec,
  };
}

function checkModel(agent: AgentObject, model: string): void {
  const own = agent.spec.model;
  const allowed = own === undefined ? [] : [own.name, ...(own.allowed ?? [])];
  if (allowed.includes(model)) return;
  const choice =
    allowed.length === 0 ? 'this Agent has no model to choose' : `choose one of: ${[...new Set(allowed)].join(', ')}`;
  throw new Refusal(
    'invalid_arguments',
    `model "${model}" is not allowed by Agent "${agent.metadata.name}"; ${choice}.`,
  );
}

function blankless(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}

function given<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  const result: Partial<Record<K, V>> = {};
  if (value !== undefined) result[key] = value;
  return result;
}
