import type {QuestionObject, SessionObject, TurnObject} from '../../src/api/v1alpha1/index.ts';
import type {RunnerEvent} from '../../src/api/wire/runner.ts';
import {questionName} from '../../src/gateway/runner-api/apply-question.ts';

const meta = {namespace: 'team-a', creationTimestamp: '2026-01-01T00:00:00Z'};

/** UID of the session that the builders make, and of its present pod. */
export const SESSION_UID = 'aaaaaaaa-0000-0000-0000-000000000001';
export const POD_UID = 'pod-uid-1';
/** Name of its first pod. */
export const POD_NAME = 'carrel-one-aaaaaaaa-1';
/** When what runners tell of happened. */
export const AT = '2026-01-01T00:00:00Z';

/** Session `one`, attempt 1, running turn `t1` in its pod. */
export function session(
  status: Partial<NonNullable<SessionObject['status']>> = {},
  spec: Partial<SessionObject['spec']> = {},
): SessionObject {
  return {
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'Session',
    metadata: {...meta, name: 'one', uid: SESSION_UID, resourceVersion: '100'},
    spec: {agent: 'scripted', desired: 'Active', restart: 0, ttlAfterFinished: '7d', turnHistoryLimit: 20, ...spec},
    status: {
      phase: 'Running',
      attempt: 1,
      pod: {name: POD_NAME, uid: POD_UID},
      activeTurn: {name: 't1', uid: 'turn-uid-1', sequence: 2},
      ...status,
    },
  };
}

/** Turn `t1`, number 2, running in the pod. */
export function turn(
  changes: {
    name?: string;
    uid?: string;
    spec?: Partial<TurnObject['spec']>;
    status?: Partial<NonNullable<TurnObject['status']>>;
  } = {},
): TurnObject {
  return {
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'Turn',
    metadata: {
      ...meta,
      name: changes.name ?? 't1',
      uid: changes.uid ?? 'turn-uid-1',
      resourceVersion: '101',
      generation: 1,
    },
    spec: {session: 'one', input: [{text: 'hello'}], delivery: 'Queue', ...changes.spec},
    status: {phase: 'Running', sequence: 2, sessionUID: SESSION_UID, podUID: POD_UID, ...changes.status},
  };
}

/** The name that the gateway gives to a request of turn `t1`. */
export const nameOf = (requestId: string) => questionName(session(), {turnUid: 'turn-uid-1', requestId});

/** An open permission question of turn `t1`, under the name that the gateway gives it. */
export function question(
  changes: {
    name?: string;
    spec?: Partial<QuestionObject['spec']>;
    status?: Partial<NonNullable<QuestionObject['status']>>;
  } = {},
): QuestionObject {
  const name = changes.name ?? nameOf(changes.spec?.requestId ?? 'r1');
  return {
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'Question',
    metadata: {
      ...meta,
      name,
      uid: `uid-of-${name}`,
      resourceVersion: '102',
      ownerReferences: [{apiVersion: 'carrel.dev/v1alpha1', kind: 'Session', name: 'one', uid: SESSION_UID}],
    },
    spec: {
      session: 'one',
      turn: 't1',
      kind: 'Permission',
      requestId: 'r1',
      text: 'Write?',
      to: 'Owner',
      ...changes.spec,
    },
    status: {phase: 'Open', ...changes.status},
  };
}

/** Where the objects of these builders are. */
export const ref = (name: string) => ({namespace: 'team-a', name});

/** A runner tells what the agent said. */
export const record = (text: string): RunnerEvent => ({type: 'record', record: {time: AT, kind: 'message', text}});

/** A runner tells the end of turn `t1`. */
export const finished = (changes: object = {}) => ({
  type: 'turnFinished',
  turnUid: 'turn-uid-1',
  turnName: 't1',
  phase: 'Completed',
  stopReason: 'EndTurn',
  response: 'done',
  finishedAt: AT,
  ...changes,
});

/** A runner tells that the agent of turn `t1` asks for leave. */
export const asked = (changes: object = {}) => ({
  type: 'question',
  turnUid: 'turn-uid-1',
  turnName: 't1',
  requestId: 'r1',
  kind: 'Permission',
  text: 'Write?',
  options: [{id: 'y', label: 'Yes', kind: 'allow_once'}],
  expiresAt: '2099-01-01T00:00:00Z',
  ...changes,
});
