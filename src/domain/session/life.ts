import {wholeSeconds} from '../../api/condition-list.ts';
import type {Pod} from '../../api/kube-pod.ts';
import {done, type Outcome, wait} from '../../api/outcome.ts';
import type {SessionConditionType, SessionReason, SessionStatus, StoppedReason} from '../../api/v1alpha1/index.ts';
import {seconds} from '../duration.ts';
import {restartCommand} from './advice.ts';
import type {Queue} from './queue.ts';
import type {SessionSeen} from './seen.ts';
import type {Note, Step} from './steps.ts';
import {withStep} from './timeline.ts';

/** Phase of a Session. */
export type SessionPhase = NonNullable<SessionStatus['phase']>;

/** What the rules decide from. */
export interface LifeSeen {
  seen: SessionSeen;
  queue: Queue;
  status: SessionStatus;
}

/** How a Session stands after this look, and what is to be done for it. */
export interface Life {
  phase: SessionPhase;
  ready: {status: 'True' | 'False' | 'Unknown'; reason: SessionReason; message: string};
  /** Abnormal conditions that hold beside Ready. */
  conditions?: {type: SessionConditionType; reason: SessionReason; message: string}[];
  /** Nothing goes on until somebody changes something. */
  stalled?: boolean;
  /** Conditions stay word for word: they tell why it ended. */
  keepConditions?: boolean;
  steps: Step[];
  /** Fields of the status that change; undefined removes one. */
  changes: {[K in keyof SessionStatus]?: SessionStatus[K] | undefined};
  notes?: Note[];
  /** UID of the pod that takes turns now; undefined = none does. */
  podUid?: string;
  outcome: Outcome;
}

/** A rule decides, or leaves it to the next one. */
export type LifeRule = (life: LifeSeen) => Life | undefined;

/** The pod of the present attempt, while it is there. */
export function podOf({seen}: LifeSeen): Pod | undefined {
  return seen.pod.kind === 'Present' ? seen.pod.pod : undefined;
}

/** Step that deletes the present pod, unless it is on its way out already. */
export function deletePod({pod}: SessionSeen): Step[] {
  if (pod.kind !== 'Present' || pod.pod.metadata.deletionTimestamp !== undefined) return [];
  return [{do: 'DeletePod', name: pod.pod.metadata.name, uid: pod.pod.metadata.uid}];
}

/** `status.pod` after this look: kept until the pod is gone from the API. */
export function podLeft({seen, status}: LifeSeen): SessionStatus['pod'] {
  return seen.pod.kind === 'Present' ? status.pod : undefined;
}

/** Why a Session cannot go on. */
export interface Failure {
  reason: SessionReason;
  stopped: StoppedReason;
  message: string;
}

/** Causes that have a condition of their own. */
const NAMED = [
  'SeedIncomplete',
  'NetworkNotIsolated',
  'VolumeNotWritable',
  'AgentUnresponsive',
] as const satisfies readonly SessionConditionType[];

/** The Session fails: the pod goes, volume and queue stay, `restart` leads out. */
export function fail(life: LifeSeen, {reason, stopped, message: cause}: Failure): Life {
  const {seen, status} = life;
  const message = `${cause}: ${restartCommand(seen.session)}`;
  return {
    phase: 'Failed',
    ready: {status: 'False', reason, message},
    conditions: [
      {type: 'Failed', reason, message},
      ...NAMED.filter((type) => type === reason).map((type) => ({type, reason, message})),
    ],
    stalled: true,
    steps: deletePod(seen),
    changes: {
      pod: podLeft(life),
      stoppedReason: stopped,
      finishedAt: wholeSeconds(seen.now),
      idleSince: undefined,
      heldSince: undefined,
      timeline: withStep(status.timeline, 'Failed', seen.now, `${reason}: ${cause}`),
    },
    outcome: wait(ttlLeft(life, seen.now)),
  };
}

/** Milliseconds until the Session may be deleted, counted from `from`. */
export function ttlLeft({seen}: LifeSeen, from: Date): number {
  return from.getTime() + seconds(seen.session.spec.ttlAfterFinished) * 1_000 - seen.now.getTime();
}

/** Milliseconds until `since` is `duration` ago; undefined when there is no such limit. */
export function left(since: string | undefined, duration: string | undefined, now: Date): number | undefined {
  if (since === undefined || duration === undefined) return undefined;
  return Date.parse(since) + seconds(duration) * 1_000 - now.getTime();
}

/** Look again when the earliest of these is due; done when none is. */
export function atFirst(...lefts: (number | undefined)[]): Outcome {
  const known = lefts.filter((l) => l !== undefined);
  return known.length === 0 ? done : wait(Math.max(0, Math.min(...known)));
}
