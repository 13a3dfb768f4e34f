import type {Pod} from '../../api/kube-pod.ts';
import type {SessionObject, SessionReason} from '../../api/v1alpha1/index.ts';
import type {Failure} from './life.ts';

/** What to mend, for reasons whose messages name the cause only. */
const MEND: Partial<Record<SessionReason, string>> = {
  AgentExited: 'check command, args and env of the Agent',
  AgentKilled: 'look at what ended it',
  AgentUnresponsive: 'look at the node, and at resources.limits of the Agent',
  CommandNotFound: 'correct spec.command of the Agent',
  Evicted: 'look at what its node lacks',
  ImagePull: 'correct the image, the registry or imagePullSecrets of the Agent',
  InitializeTimeout: 'check command and args of the Agent, or raise its limits.start',
  NetworkNotIsolated: 'look at the NetworkPolicy plugin of the cluster',
  OutOfMemory: 'raise resources.limits.memory of the Agent',
  SeedIncomplete: 'delete the volume claim of the Session to seed anew',
};

/** The failure with the next step at the end of its message: people read it in the condition, the Event and `kubectl describe`. */
export function withAdvice(failure: Failure): Failure {
  const mend = MEND[failure.reason] ?? 'mend the cause';
  return {...failure, message: `${failure.message}. Next: ${mend}, then raise spec.restart`};
}

/** The same for a start that waits: what goes on by itself when it is mended, and what a corrected Agent needs beside. */
export function waitingWith(session: SessionObject, {reason, message}: Pick<Failure, 'reason' | 'message'>): string {
  if (reason !== 'Unschedulable') return message;
  return `${message}. It goes on by itself when a node takes it; if the Agent has to be corrected, then after that: ${restartCommand(session)}`;
}

/** What a person types to leave a failure: each message of one ends with it. */
export function restartCommand(session: SessionObject): string {
  const {spec, status} = session;
  return patchCommand(session, {restart: Math.max(spec.restart, status?.restart ?? 0) + 1});
}

/** What a person types to end a Session that closes and waits for its turn: `restart` does nothing there. */
export function cancelCommand(session: SessionObject): string {
  return patchCommand(session, {desired: 'Cancelled'});
}

/** What a person types when the node of a pod is dead: nothing else takes the pod away. */
export function forceDeleteCommand({metadata: {name, namespace}}: Pod): string {
  return `kubectl delete pod ${name} -n ${namespace ?? ''} --force`;
}

function patchCommand({metadata: {name, namespace}}: SessionObject, spec: object): string {
  return `kubectl patch sessions.carrel.dev ${name} -n ${namespace} --type=merge -p '${JSON.stringify({spec})}'`;
}
