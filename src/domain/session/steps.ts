import type {KubeObject} from '../../api/kube-object.ts';
import type {SessionReason, StoppedReason, TurnObject, TurnStatus} from '../../api/v1alpha1/index.ts';
import type {TurnEnd} from '../turn/status.ts';
import type {PodInput} from './pod.ts';
import type {NamedRevision} from './seen.ts';

/** One write that a plan asks for, before the status is patched; they are done in order. */
export type Step =
  | {do: 'CreateVolume'; revision: NamedRevision}
  | {do: 'CreateInitialTurn'}
  | {do: 'CreatePod'; input: PodInput}
  | {do: 'DeletePod'; name: string; uid: string}
  | {do: 'SwitchDelivery'; message: string}
  /** Append the end to the archive, then write it. */
  | {do: 'EndTurn'; turn: TurnObject; end: TurnEnd}
  | {do: 'DeleteTurn'; turn: TurnObject}
  | {do: 'DeleteSession'};

/** A status of a turn, written after the Session's: the Session's compare-and-swap is what decides. */
export interface TurnWrite {
  turn: TurnObject;
  status: TurnStatus;
}

/** What came out of the steps and belongs into the status. */
export interface Applied {
  volume?: {name: string; uid: string};
  initialTurn?: {name: string; uid: string};
  pod?: {name: string; uid: string};
  /** The API server, or a policy of it, did not take the pod or the volume. */
  refused?: Refused;
  /** A step of the queue could not be done now: the queue stays as it was, and everything is tried again. */
  failed?: {error: unknown; archiveNews?: boolean};
  /** Nothing more can be done now; look again after this time. */
  againMs?: number;
}

/** Why an object was refused, and whether it may be tried again by itself. */
export interface Refused {
  reason: SessionReason;
  stopped: StoppedReason;
  message: string;
  /** Try again after this time; undefined = a person must change something. */
  retryMs: number | undefined;
}

/** Something to tell in an Event that no condition tells. */
export interface Note {
  reason: SessionReason;
  action: string;
  note: string;
  related?: KubeObject;
}
