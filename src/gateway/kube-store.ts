import {wholeSeconds} from '../api/condition-list.ts';
import type {KubeObject, Manifest} from '../api/kube-object.ts';
import type {QuestionObject} from '../api/v1alpha1/index.ts';
import {takenBack} from '../domain/question/taken-back.ts';
import type {Clock} from '../kube/clock.ts';
import {isApiError} from '../kube/errors.ts';
import {Questions, Sessions, Turns} from '../kube/kinds.ts';
import type {Client} from '../kube/ports.ts';
import type {Resource} from '../kube/resource.ts';
import {type GatewayCaches, INDEX, sessionKey} from './caches.ts';
import {refusing} from './kube-refusal.ts';
import type {Made, Store} from './store.ts';

/** The store over the caches and the API server. */
export function createKubeStore({client, caches, clock}: {client: Client; caches: GatewayCaches; clock: Clock}): Store {
  const {sessions, turns, questions, agents} = caches;
  return {
    session: (namespace, name) => sessions.get({namespace, name}),
    liveSession: (namespace, name) => refusing(() => client.find(Sessions, {namespace, name})),
    sessions: (namespace) => sessions.list(namespace),
    children: (uid) => sessions.byIndex(INDEX.parentUid, uid),
    agent: (namespace, name) => agents.get({namespace, name}),
    agents: (namespace) => agents.list(namespace),
    turns: (namespace, session) => turns.byIndex(INDEX.session, sessionKey(namespace, session)),
    questions: (namespace, session) => questions.byIndex(INDEX.session, sessionKey(namespace, session)),
    createSession: (manifest) => create(client, Sessions, manifest),
    createTurn: (manifest) => create(client, Turns, manifest),
    createQuestion: (manifest) => create(client, Questions, manifest),
    async patchSession({metadata: {namespace, name, uid}}, spec) {
      await refusing(() => client.patchSpecMerge(Sessions, {namespace, name}, {uid, spec}, {strict: true}));
    },
    settledQuestion(asked, wait) {
      const {namespace, name, uid, resourceVersion} = asked.metadata;
      const ref = {namespace, name};
      const probe = () => {
        const now = questions.get(ref);
        if (now?.metadata.uid === uid) return isSettled(now) ? now : undefined;
        return questions.hasSeen(ref, resourceVersion) ? takenBack(asked) : undefined;
      };
      return questions.waitUntil(probe, {...wait, ref});
    },
    // Read here: the call that asks began up to a minute before.
    markDelivered: (question) => markDelivered(client, question, new Date(clock.now())),
  };
}

/** True when nothing will change the outcome of a question any more. */
export function isSettled(question: QuestionObject): boolean {
  const phase = question.status?.phase;
  return phase === 'Answered' || phase === 'Expired' || phase === 'Withdrawn';
}

/**
 * Create, and tell a taken name from a failure. A create whose reply was lost may have happened: the live object decides,
 * because names are either random or made from a key.
 */
async function create<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  manifest: Manifest<T>,
): Promise<Made<T>> {
  const {namespace, name} = manifest.metadata;
  try {
    return {object: await client.create(resource, manifest, {strict: true}), created: true};
  } catch (error) {
    if (!isApiError(error, 'AlreadyExists', 'Unavailable')) return await refusing(() => Promise.reject(error));
    const found = await refusing(() => client.find(resource, {namespace, name}));
    if (found === undefined) return await refusing(() => Promise.reject(error));
    return {object: found, created: false};
  }
}

async function markDelivered(client: Client, question: QuestionObject, now: Date): Promise<void> {
  const {namespace, name, uid} = question.metadata;
  const patch = {
    uid,
    tests: {'/status/phase': 'Answered', '/status/deliveredAt': null},
    ops: [{op: 'add' as const, path: '/status/deliveredAt', value: wholeSeconds(now)}],
  };
  try {
    await client.patchStatusJson(Questions, {namespace, name}, patch);
  } catch (error) {
    // Somebody delivered it already, or it is gone: the answer is the same.
    if (!isApiError(error, 'TestFailed', 'NotFound')) await refusing(() => Promise.reject(error));
  }
}
