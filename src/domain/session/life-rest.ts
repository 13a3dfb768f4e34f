import {wholeSeconds} from '../../api/condition-list.ts';
import {tokensDoomed} from './account.ts';
import {moved} from './address.ts';
import {atFirst, deletePod, fail, type Life, type LifeRule, type LifeSeen, left, podLeft} from './life.ts';
import type {PodEnd} from './pod-end.ts';
import {LOSSES, LOSSES_WITHIN_MS, stepsWithin, withStep} from './timeline.ts';

/** When a Session has no pod although it goes on. */
export const RESTING: readonly LifeRule[] = [workspaceLost, sleeping];

/** A lost volume is never replaced silently; raising `restart` says that an empty one will do. */
function workspaceLost(life: LifeSeen): Life | undefined {
  const {seen, status} = life;
  if (seen.volume !== 'Lost' || seen.session.spec.restart > (status.restart ?? 0)) return undefined;
  const message = `volume claim ${status.volume?.name ?? ''} is gone, and with it workspace and conversation; raise spec.restart to go on with an empty one`;
  return fail(life, {reason: 'WorkspaceLost', stopped: 'WorkspaceLost', message});
}

/**
 * No pod while nothing is runnable: because it is desired, because it slept already, because it was idle long enough, or
 * because the pod that it has would hear of no turn.
 */
function sleeping(life: LifeSeen): Life | undefined {
  const {seen, queue, status} = life;
  if (queue.runnable || queue.holding > 0) return undefined;
  const asleep = status.phase === 'Sleeping' || status.phase === 'Archived';
  const idle = seen.current?.data.spec.idle;
  const due = status.phase === 'Idle' ? left(status.idleSince, idle?.sleepAfter, seen.now) : undefined;
  const desired = seen.session.spec.desired === 'Sleeping';
  const restart = seen.session.spec.restart > (status.restart ?? 0);
  const untrusted = replaced(life);
  const deaf = untrusted !== undefined || (status.phase !== 'Starting' && moved(seen));
  if (!desired && (!asleep || restart) && !(due !== undefined && due <= 0) && !deaf) return undefined;
  const note = untrusted === undefined ? undefined : `${untrusted.reason}: ${untrusted.message}`;
  const idleSince = status.idleSince ?? wholeSeconds(seen.now);
  return {
    phase: 'Sleeping',
    ready: {
      status: 'True',
      reason: 'Sleeping',
      message: 'no pod; workspace and conversation are kept, a turn wakes it',
    },
    steps: deletePod(seen),
    changes: {
      pod: podLeft(life),
      stoppedReason: 'Idle',
      finishedAt: undefined,
      startingSince: undefined,
      heldSince: undefined,
      idleSince,
      ...(status.phase === 'Sleeping' ? {} : {timeline: withStep(status.timeline, 'Sleeping', seen.now, note)}),
    },
    outcome: atFirst(left(idleSince, idle?.closeAfter, seen.now)),
  };
}

/**
 * Whoever deletes a ServiceAccount again and again must not bring down sessions that have nothing to lose. One that starts gets
 * another pod, because that was to be prepared, until this was tried as often as for one with work.
 */
function replaced({seen, status}: LifeSeen): PodEnd | undefined {
  const {pod, now} = seen;
  if (pod.kind !== 'Present') return undefined;
  const again = status.phase === 'Starting' && stepsWithin(status.timeline, 'Lost', now, LOSSES_WITHIN_MS) < LOSSES - 1;
  return again ? undefined : tokensDoomed(seen, pod.pod);
}
