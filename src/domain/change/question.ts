import type {Manifest} from '../../api/kube-object.ts';
import type {QuestionObject, SessionObject} from '../../api/v1alpha1/index.ts';
import {canonicalHash} from '../canonical.ts';
import {childName, keyedSuffix} from './names.ts';
import {childLabels, ownedBy} from './turn.ts';

/** What a session asks. */
export interface AskRequest {
  readonly text: string;
  readonly options?: readonly {readonly id: string; readonly label: string}[] | undefined;
  readonly key?: string | undefined;
}

/** Questions of one turn, over its whole life: those that an agent asks itself, and together with permissions and forms. */
export const MOST_QUESTIONS = {asked: 50, all: 250} as const;

/** Whether this turn may have one more Question; one that is there already, by name, is no further one. */
export function hasRoom(
  questions: readonly QuestionObject[],
  turn: string,
  wanted: {name: string; asked: boolean},
): boolean {
  const ofTurn = questions.filter((q) => q.spec.turn === turn);
  if (ofTurn.some((q) => q.metadata.name === wanted.name)) return true;
  const asked = ofTurn.filter((q) => q.spec.kind === 'Ask');
  return ofTurn.length < MOST_QUESTIONS.all && (!wanted.asked || asked.length < MOST_QUESTIONS.asked);
}

/** The turn it is asked from. */
export interface AskingTurn {
  readonly name: string;
  readonly uid: string;
}

/** The same question of the same turn has the same name: a repeated call waits for the answer of the first. */
export function askName(session: SessionObject, turn: AskingTurn, ask: AskRequest): string {
  const digest = canonicalHash({text: ask.text, options: ask.options ?? []});
  return childName(session.metadata, `q${keyedSuffix([turn.uid, digest, ask.key ?? ''])}`);
}

/** The Question to create. */
export function buildAsk(
  session: SessionObject,
  turn: AskingTurn,
  ask: AskRequest & {expiresAt: string},
): Manifest<QuestionObject> {
  return {
    metadata: {
      name: askName(session, turn, ask),
      namespace: session.metadata.namespace,
      labels: childLabels(session),
      ownerReferences: [ownedBy(session)],
    },
    spec: {
      session: session.metadata.name,
      turn: turn.name,
      kind: 'Ask',
      text: ask.text,
      to: 'Owner',
      expiresAt: ask.expiresAt,
      ...(ask.options === undefined || ask.options.length === 0 ? {} : {options: ask.options.map((o) => ({...o}))}),
    },
  };
}
