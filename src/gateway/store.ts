import type {Manifest} from '../api/kube-object.ts';
import type {AgentObject, QuestionObject, SessionObject, TurnObject} from '../api/v1alpha1/index.ts';
import type {SpecPatch} from '../domain/change/session-patch.ts';

/**
 * What tools may read and write: cached reads, single writes. Every failure is a Refusal; a create that finds its name
 * taken says so instead, with the object that is there.
 */
export interface Store {
  session(namespace: string, name: string): SessionObject | undefined;
  /** The Session as it is now, with its prompt; undefined when it is gone. */
  liveSession(namespace: string, name: string): Promise<SessionObject | undefined>;
  sessions(namespace: string): readonly SessionObject[];
  children(uid: string): readonly SessionObject[];
  agent(namespace: string, name: string): AgentObject | undefined;
  agents(namespace: string): readonly AgentObject[];
  turns(namespace: string, session: string): readonly TurnObject[];
  questions(namespace: string, session: string): readonly QuestionObject[];
  createSession(manifest: Manifest<SessionObject>): Promise<Made<SessionObject>>;
  createTurn(manifest: Manifest<TurnObject>): Promise<Made<TurnObject>>;
  createQuestion(manifest: Manifest<QuestionObject>): Promise<Made<QuestionObject>>;
  patchSession(session: SessionObject, patch: SpecPatch): Promise<void>;
  /** Wait until the question has an answer or a final phase; undefined on time-out or abort. */
  settledQuestion(
    question: QuestionObject,
    wait: {timeoutMs: number; signal: AbortSignal},
  ): Promise<QuestionObject | undefined>;
  /** Record that the asking session has the answer, and since when, so that it is not sent again as a Turn. */
  markDelivered(question: QuestionObject): Promise<void>;
}

/** What a create led to. */
export interface Made<T> {
  readonly object: T;
  /** False: the name was taken; `object` is what has it. */
  readonly created: boolean;
}
