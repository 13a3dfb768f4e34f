import type {RunnerStatus} from '../../api/v1alpha1/index.ts';
import {tokensVoid} from './account.ts';
import {type LifeSeen, left, podOf} from './life.ts';
import {laterChanges} from './pod-changes.ts';
import {type PodEnd, podEnd} from './pod-end.ts';
import {reported} from './runner-report.ts';

// Why a pod is given up although nobody asked for that. Of a pod that has such a fault no end of a turn is waited for.

/** It is being deleted: by a person, by an eviction, or by us for a fault that was told before. */
export function goingPod(life: LifeSeen): Pick<PodEnd, 'reason' | 'message'> | undefined {
  const {name, deletionTimestamp} = podOf(life)?.metadata ?? {};
  if (name === undefined || deletionTimestamp === undefined) return undefined;
  return {reason: 'PodLost', message: `pod ${name} is being deleted`};
}

/** Somebody changed what was asked for. */
export function changedPod(life: LifeSeen): PodEnd | undefined {
  const {seen} = life;
  const pod = podOf(life);
  if (pod === undefined || seen.current === undefined) return undefined;
  const changes = laterChanges(pod, seen.session.metadata.uid, seen.current.data);
  if (changes.length === 0) return undefined;
  const message = `pod ${pod.metadata.name} was changed after it was made: ${changes.join('; ')}`;
  return {reason: 'PodMutated', stopped: 'PodMutated', message};
}

/** The pod ended, or does nothing any more of which we would hear. */
export function podFault(life: LifeSeen): PodEnd | undefined {
  const pod = podOf(life);
  if (pod === undefined) return undefined;
  return tokensVoid(life.seen, pod) ?? podEnd(pod) ?? silentFor(life);
}

/** Beside `limits.start`: for a frozen node to thaw, and the process beside the agent to be found again. */
const SILENT_GRACE_MS = 60_000;

/**
 * Milliseconds until the process beside the agent, silent as the runner says, is given up; undefined while it is not silent, and
 * while its node is, because nothing is decided then.
 */
export function silentLeft(life: LifeSeen): number | undefined {
  const {seen} = life;
  const report = reportOf(life);
  if (report?.state !== 'Restarting' || report.reason !== 'AgentUnresponsive' || seen.node !== 'Fine') return undefined;
  const start = left(report.reportedAt, seen.current?.data.spec.limits.start ?? '60s', seen.now);
  return start === undefined ? undefined : start + SILENT_GRACE_MS;
}

/** A process that was stopped never ends and never starts another agent: its pod would take no turn again. */
function silentFor(life: LifeSeen): PodEnd | undefined {
  const silent = silentLeft(life);
  if (silent === undefined || silent > 0) return undefined;
  const message = `${reportOf(life)?.message ?? 'the process beside the agent gives no sign of life'}, and did not come back`;
  return {reason: 'AgentUnresponsive', stopped: 'AgentExited', message};
}

function reportOf(life: LifeSeen): RunnerStatus | undefined {
  const pod = podOf(life);
  return pod === undefined ? undefined : reported(life.status, pod.metadata.uid);
}
