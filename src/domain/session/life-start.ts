import {wholeSeconds} from '../../api/condition-list.ts';
import {done, stalled, wait} from '../../api/outcome.ts';
import {identityOf} from './identity.ts';
import {deletePod, fail, type Life, type LifeRule, type LifeSeen} from './life.ts';
import {podName} from './pod.ts';
import type {RevisionChoice} from './seen.ts';
import {WARNINGS_AFTER_MS} from './start.ts';
import type {Step} from './steps.ts';
import {happenedSince, type LifeStep, LOSSES, LOSSES_WITHIN_MS, stepsWithin, withStep} from './timeline.ts';
import {volumeClaimName} from './volume.ts';

/** How a Session without a usable pod gets one. */
export const STARTING: readonly LifeRule[] = [restarting, lost, podToMake, attemptToMake];

/** `restart` was raised: the present pod goes first, then a new attempt follows. */
function restarting(life: LifeSeen): Life | undefined {
  const {seen, status} = life;
  if ((status.attempt ?? 0) === 0 || seen.session.spec.restart <= (status.restart ?? 0)) return undefined;
  if (seen.pod.kind !== 'Present') return newAttempt(life, 'Restarted', `restart ${seen.session.spec.restart}`);
  return {
    phase: 'Starting',
    ready: {status: 'False', reason: 'Starting', message: 'the pod is being replaced, because spec.restart was raised'},
    steps: deletePod(seen),
    changes: {},
    outcome: done,
  };
}

/** The pod went without being asked to. A few times in a row are answered with a new attempt, more are a failure. */
function lost(life: LifeSeen): Life | undefined {
  const {seen, status} = life;
  if (seen.pod.kind !== 'Gone' || ['Sleeping', 'Archived', 'Failed'].includes(status.phase ?? '')) return undefined;
  if (happenedSince(status.timeline, 'Restarted', 'Started')) return newAttempt(life);
  const told = happenedSince(status.timeline, 'Lost', 'Started');
  const losses = stepsWithin(status.timeline, 'Lost', seen.now, LOSSES_WITHIN_MS) + (told ? 0 : 1);
  if (losses >= LOSSES) {
    const cause = status.timeline?.filter((e) => e.event === 'Lost').at(-1)?.note ?? 'the pod was deleted';
    const message = `${losses} pods were lost within ${LOSSES_WITHIN_MS / 60_000} min; the last cause: ${cause}. Mend it, then raise spec.restart`;
    return fail(life, {reason: 'PodLost', stopped: status.stoppedReason ?? 'PodLost', message});
  }
  const again = told ? newAttempt(life) : newAttempt(life, 'Lost', 'the pod went away');
  const note = {
    reason: 'PodLost' as const,
    action: 'Replace',
    note: `pod ${seen.pod.name} is gone; a new attempt follows`,
  };
  return {...again, notes: told ? [] : [note]};
}

/** The attempt is written: now, and only now, its pod may be made. */
function podToMake(life: LifeSeen): Life | undefined {
  const {seen, status} = life;
  if (seen.pod.kind !== 'None' || status.phase !== 'Starting' || status.attempt === undefined) return undefined;
  if (seen.current === undefined || status.volume === undefined) return undefined;
  const starting = {status: 'False', reason: 'Starting', message: 'the pod is being started'} as const;
  const base = {phase: 'Starting', ready: starting, changes: {}} as const;
  if (seen.addresses === undefined)
    return {...base, ready: {...starting, message: NO_ADDRESS}, steps: [], outcome: done};
  // The pod of this very attempt may be there already, made and not recorded: it is taken.
  if (seen.strays.some((p) => p.metadata.name !== podName(identityOf(seen.session), status.attempt ?? 0))) {
    return {...base, ready: {...starting, message: 'an earlier pod is still going away'}, steps: [], outcome: done};
  }
  const {data} = seen.current;
  const session = identityOf(seen.session);
  const input = {
    session,
    attempt: status.attempt,
    revision: data,
    modelName: seen.session.spec.model?.name,
    claimName: volumeClaimName(session),
    seed: data.spec.workspace.image !== undefined && status.seeded !== true,
    runtimeImage: seen.settings.runtimeImage,
    delivery: seen.settings.delivery,
    addresses: seen.addresses,
  };
  return {...base, steps: [{do: 'CreatePod', input}], outcome: wait(FIRST_LOOK_MS)};
}

// Most pods are up by then and have reported: a look at them costs a reconcile and says nothing.
const FIRST_LOOK_MS = WARNINGS_AFTER_MS + 1_000;

const NO_ADDRESS = 'the gateway or the egress relay has no cluster address yet; is the release installed completely?';

function attemptToMake(life: LifeSeen): Life | undefined {
  return life.seen.pod.kind === 'Present' ? undefined : newAttempt(life);
}

/** Nothing to run: the Agent, once it is judged or changed, wakes the Session. */
function blocked(choice: Exclude<RevisionChoice, {kind: 'Found'}>, changes: Life['changes']): Life {
  const base: Pick<Life, 'phase' | 'steps' | 'changes'> = {phase: 'Pending', steps: [], changes};
  const {message} = choice;
  if (choice.kind === 'Unjudged') {
    return {...base, ready: {status: 'False', reason: 'Pending', message}, outcome: done};
  }
  const {reason} = choice;
  return {...base, ready: {status: 'False', reason, message}, stalled: true, outcome: stalled(reason)};
}

/** Write the number of the next attempt, and what it runs; its pod is made by the next look. */
function newAttempt(life: LifeSeen, step?: LifeStep, note?: string): Life {
  const {seen, status} = life;
  const {choice, session} = seen;
  const timeline = step === undefined ? status.timeline : withStep(status.timeline, step, seen.now, note);
  if (choice.kind !== 'Found') return blocked(choice, {pod: undefined, timeline});
  const {revision} = choice;
  const attempt = (status.attempt ?? 0) + 1;
  const fresh = seen.volume !== 'Present';
  const steps: Step[] = fresh ? [{do: 'CreateVolume', revision}] : [];
  return {
    phase: 'Starting',
    ready: {status: 'False', reason: 'Starting', message: 'the pod is being started'},
    steps,
    changes: {
      attempt,
      revision: revision.name,
      restart: session.spec.restart,
      pod: undefined,
      ...(fresh ? {seeded: undefined} : {}),
      stoppedReason: undefined,
      finishedAt: undefined,
      idleSince: undefined,
      startingSince: wholeSeconds(seen.now),
      heldSince: undefined,
      timeline: withStep(timeline, 'Started', seen.now, `attempt ${attempt}`),
    },
    outcome: wait(0),
  };
}
