import type {Pod} from '../../src/api/kube-pod.ts';
import type {
  QuestionObject,
  SessionObject,
  SessionSpec,
  SessionStatus,
  TurnObject,
  TurnSpec,
  TurnStatus,
} from '../../src/api/v1alpha1/index.ts';
import {Agent} from '../../src/api/v1alpha1/index.ts';
import type {RevisionData} from '../../src/domain/agent/revision.ts';
import {buildPod, type PodInput} from '../../src/domain/session/pod.ts';
import type {SessionSeen} from '../../src/domain/session/seen.ts';

// Builders of objects as the API server returns them; each takes only what a test is about.

export const NOW = new Date('2026-11-29T12:00:00Z');
export const SESSION_UID = '5e551011-0000-4000-8000-000000000001';
export const ACCOUNT_UID = 'acc00001-0000-4000-8000-000000000001';
export const POD_UID = '90d00001-0000-4000-8000-000000000001';
const DIGEST = 'a'.repeat(64);

/** So many seconds before NOW, RFC 3339. */
export function ago(seconds: number): string {
  return new Date(NOW.getTime() - seconds * 1_000).toISOString().replace('.000', '');
}

export function session(status: SessionStatus | undefined, spec: Partial<SessionSpec> = {}): SessionObject {
  return {
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'Session',
    metadata: {
      name: 'one',
      namespace: 'team',
      uid: SESSION_UID,
      resourceVersion: '7',
      generation: 1,
      creationTimestamp: ago(600),
    },
    spec: {agent: 'scribe', desired: 'Active', restart: 0, ttlAfterFinished: '7d', turnHistoryLimit: 20, ...spec},
    ...(status === undefined ? {} : {status}),
  };
}

let made = 0;

export function turn(name: string, status?: TurnStatus, spec: Partial<TurnSpec> = {}): TurnObject {
  made += 1;
  return {
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'Turn',
    metadata: {
      name,
      namespace: 'team',
      uid: `uid-${name}`,
      resourceVersion: String(100 + made),
      generation: 1,
      creationTimestamp: ago(300),
    },
    spec: {session: 'one', input: [{text: 'hello'}], delivery: 'Queue', ...spec},
    ...(status === undefined ? {} : {status}),
  };
}

export function question(
  name: string,
  {status, ...spec}: Partial<QuestionObject['spec']> & {status?: QuestionObject['status']} = {},
): QuestionObject {
  return {
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'Question',
    metadata: {
      name,
      namespace: 'team',
      uid: `0e570000-${name}`,
      resourceVersion: '9',
      generation: 1,
      creationTimestamp: ago(60),
    },
    spec: {session: 'one', turn: 'first', kind: 'Ask', text: 'which colour?', to: 'Owner', ...spec},
    ...(status === undefined ? {} : {status}),
  };
}

export function revisionData(spec: object = {}): RevisionData {
  return {
    agent: {name: 'scribe', uid: 'a6e10000-0000-4000-8000-000000000001'},
    generation: 1,
    uid: 200_001,
    spec: Agent.spec.parse({image: `registry.example/agent@sha256:${DIGEST}`, command: ['agent'], ...spec}),
  };
}

/** The pod of attempt 1, as our builder makes it, with a status of the kubelet. */
export function pod(
  status: Pod['status'] = {},
  more: {metadata?: object; spec?: object; input?: Partial<PodInput>} = {},
): Pod {
  const built = buildPod({
    session: {name: 'one', namespace: 'team', uid: SESSION_UID},
    attempt: 1,
    revision: revisionData(),
    claimName: 'carrel-one-5e551011',
    seed: false,
    runtimeImage: `registry.example/carrel@sha256:${DIGEST}`,
    delivery: 'ImageVolume',
    addresses: {gateway: '10.0.0.1', egress: '10.0.0.2'},
    accountUid: ACCOUNT_UID,
    ...more.input,
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...built.metadata,
      uid: POD_UID,
      resourceVersion: '20',
      creationTimestamp: ago(100),
      ...more.metadata,
    },
    spec: {...built.spec, nodeName: 'n1', ...more.spec},
    status,
  };
}

/** A session whose first pod was made and reported Ready. */
export const READY: SessionStatus = {
  phase: 'Idle',
  attempt: 1,
  restart: 0,
  revision: 'scribe-a6e10000-x',
  pod: {name: 'carrel-one-5e551011-1', uid: POD_UID},
  volume: {name: 'carrel-one-5e551011', uid: 'vol'},
  lastSequence: 0,
  queued: 0,
  turns: 0,
  idleSince: ago(10),
  runner: {podUID: POD_UID, epoch: 1, state: 'Ready'},
  timeline: [{time: ago(100), event: 'Started', note: 'attempt 1'}],
};

export function seen(over: Partial<SessionSeen> = {}): SessionSeen {
  const revision = {name: 'scribe-a6e10000-x', data: revisionData()};
  return {
    session: session(undefined),
    now: NOW,
    choice: {kind: 'Found', revision},
    current: undefined,
    pod: {kind: 'None'},
    strays: [],
    volume: 'None',
    node: 'Fine',
    account: {uid: ACCOUNT_UID},
    turns: [],
    questions: [],
    podWarnings: [],
    addresses: {gateway: '10.0.0.1', egress: '10.0.0.2'},
    settings: {
      runtimeImage: `registry.example/carrel@sha256:${DIGEST}`,
      accessMode: 'ReadWriteOnce',
      services: {namespace: 'carrel-system', gateway: 'carrel-gateway', egress: 'carrel-egress'},
      delivery: 'ImageVolume',
      maySwitch: true,
    },
    ...over,
  };
}

/** A session with a present pod; `status` is laid over READY. */
export function seenWithPod(
  status: SessionStatus = {},
  over: Partial<SessionSeen> = {},
  spec: Partial<SessionSpec> = {},
): SessionSeen {
  return seen({
    session: session({...READY, ...status}, spec),
    current: {name: 'scribe-a6e10000-x', data: revisionData()},
    pod: {kind: 'Present', pod: pod({phase: 'Running'})},
    volume: 'Present',
    ...over,
  });
}
