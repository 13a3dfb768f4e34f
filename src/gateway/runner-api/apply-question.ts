import {wholeSeconds} from '../../api/condition-list.ts';
import type {Manifest, ObjectRef} from '../../api/kube-object.ts';
import type {QuestionObject, SessionObject} from '../../api/v1alpha1/index.ts';
import {QUESTION_WAIT_MS, type RunnerEvent} from '../../api/wire/runner.ts';
import {childName, keyedSuffix} from '../../domain/change/names.ts';
import {hasRoom, MOST_QUESTIONS} from '../../domain/change/question.ts';
import {childLabels, ownedBy} from '../../domain/change/turn.ts';
import {type ApiError, isApiError} from '../../kube/errors.ts';
import {Questions, Turns} from '../../kube/kinds.ts';
import type {Client} from '../../kube/ports.ts';
import type {Bound} from '../auth/binding.ts';
import {APPLIED, type Applied, dropped} from './applied.ts';

/** A request of the agent that a person answers. */
export type Asked = Extract<RunnerEvent, {type: 'question'}>;

/** Longer than a webhook is away that is being replaced. */
const WEBHOOK_PATIENCE_MS = 60_000;

/** One request in the pod, one Question: the name is made of the turn and the request, which names its epoch. */
export function questionName(session: SessionObject, asked: {turnUid: string; requestId: string}): string {
  return childName(session.metadata, `q${keyedSuffix([asked.turnUid, asked.requestId])}`);
}

/** Create the Question, if its turn still runs in this pod. A repetition finds the first one. */
export async function applyQuestion(
  client: Pick<Client, 'find' | 'create'>,
  {pod, session}: Bound,
  {asked, now, others}: {asked: Asked; now: Date; others: readonly QuestionObject[]},
): Promise<Applied> {
  const turn = await client.find(Turns, {namespace: session.metadata.namespace, name: asked.turnName});
  if (turn?.metadata.uid !== asked.turnUid || turn.status?.podUID !== pod.uid) return dropped('turn_not_ours', OVER);
  if (turn.status.phase !== 'Running') return dropped('turn_over', OVER);
  const manifest = buildQuestion(session, asked, now);
  // Without an end, the Questions of one turn would fill the store. A request without a Question is taken back by the runner.
  if (!hasRoom(others, asked.turnName, {name: manifest.metadata.name, asked: false}))
    return dropped('too_many', `a turn may have ${MOST_QUESTIONS.all} Questions`);
  try {
    await client.create(Questions, manifest);
    return APPLIED;
  } catch (error) {
    const refused = refusal(error, asked, now);
    if (refused !== undefined) return refused;
    if (!isApiError(error, 'AlreadyExists', 'Terminating', 'Unavailable')) throw error;
    const found = await client.find(Questions, {namespace: session.metadata.namespace, name: manifest.metadata.name});
    if (found === undefined) throw error;
    return isOurs(found, session) && found.spec.requestId === asked.requestId
      ? APPLIED
      : dropped('name_taken', 'an object of somebody else has its name');
  }
}

const OVER = 'its turn is over';

/** Why it will never be made; undefined where it may be, later. Sent again, it would hold up every later event, the end of the turn too. */
function refusal(error: unknown, asked: Asked, now: Date): Applied | undefined {
  if (isApiError(error, 'NamespaceTerminating', 'NamespaceNotFound')) return dropped('namespace_gone', OVER);
  if (isApiError(error, 'Invalid', 'TooLarge')) return dropped('invalid', wordsOf(error));
  if (isApiError(error, 'QuotaExceeded', 'PolicyDenied')) return dropped('refused', wordsOf(error));
  const askedAt = new Date(asked.expiresAt).getTime() - QUESTION_WAIT_MS;
  const patient = now.getTime() - askedAt <= WEBHOOK_PATIENCE_MS;
  // That nothing is behind a webhook of somebody's looks like trouble of the API server, and may last for ever.
  const webhook = isApiError(error, 'Unavailable') && error.facts.message.includes('failed calling webhook');
  return webhook && !patient ? dropped('webhook', wordsOf(error)) : undefined;
}

function wordsOf({facts}: ApiError): string {
  return facts.message.slice(0, 500).toWellFormed();
}

function buildQuestion(session: SessionObject, asked: Asked, now: Date): Manifest<QuestionObject> {
  const {kind, text, requestId, options, schema, turnName: turn} = asked;
  const until = new Date(asked.expiresAt).getTime();
  const expiresAt = new Date(Number.isNaN(until) ? now.getTime() + QUESTION_WAIT_MS : until);
  return {
    metadata: {
      name: questionName(session, {turnUid: asked.turnUid, requestId}),
      namespace: session.metadata.namespace,
      labels: childLabels(session),
      ownerReferences: [ownedBy(session)],
    },
    spec: {
      session: session.metadata.name,
      turn,
      kind,
      requestId,
      text,
      to: 'Owner',
      expiresAt: wholeSeconds(expiresAt),
      ...(options === undefined || options.length === 0 ? {} : {options}),
      ...(schema === undefined ? {} : {schema}),
    },
  };
}

/** What is marked, and when it was. */
export interface Mark {
  readonly name: string;
  /** UID of the Question, where the runner knows it. */
  readonly uid?: string | undefined;
  readonly at: Date;
}

/**
 * Set `deliveredAt`: the runner took the answer, or no longer waits for one. The controller turns an open Question that
 * carries it into Withdrawn; nothing else can make a Question open and delivered.
 */
export async function markDelivered(
  client: Pick<Client, 'find' | 'patchStatusJson' | 'patchStatusMerge'>,
  session: SessionObject,
  mark: Mark,
): Promise<Applied> {
  const ref: ObjectRef = {namespace: session.metadata.namespace, name: mark.name};
  const question = await client.find(Questions, ref);
  if (question === undefined || (mark.uid !== undefined && question.metadata.uid !== mark.uid))
    return dropped('question_gone');
  if (!isOurs(question, session)) return dropped('question_not_ours');
  if (question.status?.deliveredAt !== undefined) return APPLIED;
  const deliveredAt = wholeSeconds(mark.at);
  const {uid, resourceVersion} = question.metadata;
  try {
    if (question.status === undefined) {
      await client.patchStatusMerge(Questions, ref, {resourceVersion, status: {deliveredAt}});
    } else {
      const ops = [{op: 'add', path: '/status/deliveredAt', value: deliveredAt}] as const;
      await client.patchStatusJson(Questions, ref, {uid, tests: {'/status/deliveredAt': null}, ops});
    }
    return APPLIED;
  } catch (error) {
    if (isApiError(error, 'NotFound', 'NamespaceNotFound')) return dropped('question_gone');
    // Another try of the same event, at another replica, was faster.
    if (isApiError(error, 'TestFailed')) return APPLIED;
    throw error;
  }
}

function isOurs(question: QuestionObject, session: SessionObject): boolean {
  return question.metadata.ownerReferences?.some((o) => o.uid === session.metadata.uid) === true;
}
