import type {ObjectMeta} from '../../api/kube-object.ts';
import type {Pod} from '../../api/kube-pod.ts';
import type {QuestionObject, SessionObject, TurnObject} from '../../api/v1alpha1/index.ts';
import type {RevisionData} from '../agent/revision.ts';
import type {RuntimeDelivery} from './pod.ts';

/** A published revision by name, with its checked content. */
export interface NamedRevision {
  name: string;
  data: RevisionData;
}

/** What a new attempt would run, or why there is nothing to run. */
export type RevisionChoice =
  | {kind: 'Found'; revision: NamedRevision}
  | {kind: 'Blocked'; reason: 'AgentNotFound' | 'AgentNotPublished' | 'ModelNotAllowed'; message: string}
  /** The Agent is so new that nobody has judged it: a moment later there is an answer. */
  | {kind: 'Unjudged'; message: string};

/** The pod that `status.pod` names. `Gone` is confirmed by a live read; `None` means that no pod is recorded. */
export type PodSeen = {kind: 'None'} | {kind: 'Gone'; name: string; uid: string} | {kind: 'Present'; pod: Pod};

/** The node of the present pod. */
export type NodeSeen = 'Fine' | 'Unreachable' | 'Gone';

/** Everything that decides about a Session: read once, at the beginning of a reconcile. */
export interface SessionSeen {
  session: SessionObject;
  now: Date;
  /** What a new attempt would run. */
  choice: RevisionChoice;
  /** Revision of the present attempt; undefined = no attempt, or the revision is gone or changed. */
  current: NamedRevision | undefined;
  pod: PodSeen;
  /** Pods that this Session owns and that `status.pod` does not name: earlier ones, or one that was made and not recorded yet. */
  strays: readonly Pod[];
  /** `Lost`: recorded in the status and not in the API any more, confirmed live. */
  volume: 'None' | 'Present' | 'Lost';
  node: NodeSeen;
  /** The ServiceAccount that the present pod's tokens should belong to; undefined while there is none. */
  account: Pick<ObjectMeta, 'uid' | 'deletionTimestamp'> | undefined;
  /** Turns that name this Session, of whatever UID. */
  turns: readonly TurnObject[];
  questions: readonly QuestionObject[];
  /** Warnings of the kubelet about the pod; read only while a start takes long. */
  podWarnings: readonly string[];
  /** Cluster addresses; undefined while a Service has none. */
  addresses: {gateway: string; egress: string} | undefined;
  settings: SessionSettings;
}

/** What the installation fixes. */
export interface SessionSettings {
  runtimeImage: string;
  accessMode: string;
  delivery: RuntimeDelivery;
  /** The Services of gateway and egress relay, by name. */
  services: {namespace: string; gateway: string; egress: string};
  /** A cluster or node without image volumes is switched to the init container: the setting says Auto. */
  maySwitch: boolean;
}

/** UID of the present pod; undefined when there is none, or none any more. */
export function podUid({pod}: SessionSeen): string | undefined {
  return pod.kind === 'Present' ? pod.pod.metadata.uid : undefined;
}
