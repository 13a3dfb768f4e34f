import {wholeSeconds} from '../../api/condition-list.ts';
import {LABEL_SESSION} from '../../api/meta.ts';
import {done, wait} from '../../api/outcome.ts';
import type {RunnerStatus, SessionObject, SessionStatus, StoppedReason} from '../../api/v1alpha1/index.ts';
import {seconds} from '../duration.ts';
import {tokensDoomed} from './account.ts';
import {addressMoved, moved, movedText} from './address.ts';
import {forceDeleteCommand, waitingWith, withAdvice} from './advice.ts';
import {atFirst, deletePod, fail, type Life, type LifeRule, type LifeSeen, left, podOf} from './life.ts';
import {changedPod, podFault, silentLeft} from './life-fault.ts';
import {lateness, noticedAfter} from './life-overdue.ts';
import {knownReason, reported, reportFailure} from './runner-report.ts';
import {startState} from './start.ts';
import {happenedSince, type LifeStep, LOSSES, LOSSES_WITHIN_MS, stepsWithin, withStep} from './timeline.ts';

/** How a Session with a pod stands. */
export const WITH_POD: readonly LifeRule[] = [mutated, unreachable, going, ended, refused, deaf, starting, up];

/** Somebody changed what was asked for: it is not repaired, and not tried again by itself. */
function mutated(life: LifeSeen): Life | undefined {
  if (podOf(life)?.metadata.deletionTimestamp !== undefined) return undefined;
  const changed = changedPod(life);
  return changed && fail(life, {...changed, message: `${changed.message}. Raise spec.restart to go on`});
}

/** Steps that said already why the pod goes. */
const TOLD = ['Lost', 'Restarted'] as const;

/** The timeline with this step, if it was not taken in this attempt yet. */
function once({seen, status}: LifeSeen, step: LifeStep, note: string): SessionStatus['timeline'] {
  if (happenedSince(status.timeline, step, 'Started')) return status.timeline;
  return withStep(status.timeline, step, seen.now, note);
}

/** Somebody deleted the pod; what follows is decided when it is gone. */
function going(life: LifeSeen): Life | undefined {
  const pod = podOf(life);
  if (pod?.metadata.deletionTimestamp === undefined) return undefined;
  const phase = life.status.phase ?? 'Starting';
  const wakes = phase === 'Sleeping' || phase === 'Archived';
  const message = wakes ? 'wakes as soon as its earlier pod is gone' : `pod ${pod.metadata.name} is being deleted`;
  return {
    phase,
    ready: {status: 'False', reason: wakes ? 'Starting' : 'PodLost', message},
    keepConditions: TOLD.some((step) => happenedSince(life.status.timeline, step, 'Started')),
    steps: [],
    changes: {},
    outcome: done,
  };
}

/** The node does not answer: whatever runs there may still be running, so nothing is decided. */
function unreachable(life: LifeSeen): Life | undefined {
  const {seen, status} = life;
  const pod = podOf(life);
  if (pod === undefined || seen.node === 'Fine') return undefined;
  const gone = seen.node === 'Gone';
  const reason = gone ? 'NodeLost' : 'NodeUnreachable';
  const message = gone
    ? `node ${pod.spec.nodeName ?? ''} does not exist any more; a new attempt follows when the pod is gone from the API`
    : `node ${pod.spec.nodeName ?? ''} does not answer; the turn goes on if it comes back. If the node is dead: ${forceDeleteCommand(pod)}`;
  return {
    phase: status.phase ?? 'Starting',
    ready: {status: 'Unknown', reason, message},
    conditions: [{type: 'NodeUnreachable', reason, message}],
    steps: [],
    changes: {},
    outcome: done,
  };
}

/** Ends that say nothing about the start of an agent: a new attempt may well succeed. */
const FROM_OUTSIDE: readonly StoppedReason[] = ['Evicted', 'NodeLost', 'ServiceAccountReplaced'];

/** The pod ended. Once it had been ready this is a loss, and a new attempt follows; before, the start has failed. */
function ended(life: LifeSeen): Life | undefined {
  const {seen, queue, status} = life;
  const pod = podOf(life);
  if (pod === undefined) return undefined;
  const report = reported(status, pod.metadata.uid);
  const end = podFault(life);
  if (end === undefined) return undefined;
  const told = report === undefined ? undefined : reportFailure(report);
  if (told !== undefined) return fail(life, withAdvice(told));
  if (report === undefined && !FROM_OUTSIDE.includes(end.stopped)) return fail(life, withAdvice(end));
  if (stepsWithin(status.timeline, 'Lost', seen.now, LOSSES_WITHIN_MS) >= LOSSES - 1)
    return fail(life, withAdvice(end));
  const unknown = queue.active === undefined ? '' : 'what its turn did is unknown, and ';
  const message = `${end.message}; ${unknown}a new attempt follows`;
  return {
    phase: status.phase ?? 'Starting',
    ready: {status: 'False', reason: end.reason, message},
    steps: deletePod(seen),
    changes: {
      stoppedReason: end.stopped,
      timeline: once(life, 'Lost', `${end.reason}: ${end.message}`),
    },
    outcome: done,
  };
}

/** The runner says that the agent cannot be started, or has ended for good. */
function refused(life: LifeSeen): Life | undefined {
  const pod = podOf(life);
  const report = pod === undefined ? undefined : reported(life.status, pod.metadata.uid);
  const told = report === undefined ? undefined : reportFailure(report);
  return told === undefined ? undefined : fail(life, withAdvice(told));
}

/**
 * The pod was told an address that is none any more, or its account is on its way out: it would hear of no turn, or could not
 * tell the end of one. Before one is given to it another pod follows.
 */
function deaf(life: LifeSeen): Life | undefined {
  const {seen, queue, status} = life;
  const pod = podOf(life);
  if (pod === undefined || queue.active !== undefined) return undefined;
  const doomed = tokensDoomed(seen, pod);
  if (doomed === undefined && !moved(seen)) return undefined;
  const {reason, message: cause} = doomed ?? {reason: 'AddressMoved' as const, message: movedText(seen)};
  const message = `${cause}; a new attempt follows`;
  return {
    phase: status.phase ?? 'Starting',
    ready: {status: 'False', reason, message},
    steps: deletePod(seen),
    changes: {timeline: once(life, 'Restarted', `${reason}: ${message}`)},
    outcome: done,
  };
}

function starting(life: LifeSeen): Life | undefined {
  const {seen, status} = life;
  const pod = podOf(life);
  if (pod === undefined) return undefined;
  const report = reported(status, pod.metadata.uid);
  if (report !== undefined && (report.state !== 'Starting' || report.epoch > 1)) return undefined;
  const startSeconds = seconds(seen.current?.data.spec.limits.start ?? '60s');
  const {maySwitch} = seen.settings;
  const {reportedAt} = report ?? {};
  const clocks = {now: seen.now, startSeconds, reportedAt, heldSince: status.heldSince};
  const state = startState({pod, ...clocks, warnings: seen.podWarnings, maySwitch});
  if (state.kind === 'Failed') return fail(life, withAdvice(state));
  const base = {phase: 'Starting', changes: {}} as const;
  if (state.kind === 'SwitchDelivery') {
    const message = `the node does not take image volumes (${state.message}); the runtime is copied instead`;
    return {
      ...base,
      ready: {status: 'False', reason: 'RuntimeSwitched', message},
      steps: [{do: 'SwitchDelivery', message: state.message}, ...deletePod(seen)],
      changes: {timeline: once(life, 'Restarted', 'runtime delivery switched')},
      outcome: done,
    };
  }
  const {reason, condition, heldSince} = state;
  // One text for all steps of a start that goes well: each change of it would be a write.
  const message = reason === 'Starting' ? 'the pod is being started' : waitingWith(seen.session, state);
  return {
    ...base,
    ready: {status: 'False', reason, message},
    ...(condition === undefined ? {} : {conditions: [{type: condition, reason, message}]}),
    steps: [],
    changes: {heldSince},
    outcome: state.afterMs === undefined ? done : wait(state.afterMs),
  };
}

/** The agent answers: turns run, questions wait, or it is idle. */
function up(life: LifeSeen): Life | undefined {
  const {seen, queue, status} = life;
  const pod = podOf(life);
  if (pod === undefined) return undefined;
  const report = reported(status, pod.metadata.uid);
  const steady = report?.state === 'Ready';
  const works = queue.active !== undefined || (steady && queue.waiting.length > 0);
  const phase = works ? (queue.holding > 0 ? 'NeedsInput' : 'Running') : 'Idle';
  const idle = seen.current?.data.spec.idle;
  const idleSince = works
    ? undefined
    : ((status.phase === 'Idle' ? status.idleSince : undefined) ?? wholeSeconds(seen.now));
  const seeded = seen.current?.data.spec.workspace.image !== undefined && steady ? true : status.seeded;
  const late = lateness(life, false);
  const runs = queue.active?.turn.status?.phase === 'Running';
  const restarting = steady ? undefined : restartingRunner(report);
  return {
    phase,
    ready:
      restarting === undefined
        ? {status: 'True', reason: phase, message: phase === 'NeedsInput' ? asks(seen.session) : MESSAGES[phase]}
        : {status: 'False', reason: restarting.reason, message: restarting.message},
    conditions: [...(restarting === undefined ? [] : [restarting]), ...late.conditions, ...addressMoved(seen, false)],
    steps: [],
    changes: {idleSince, startingSince: undefined, heldSince: undefined, stoppedReason: undefined, seeded},
    ...(steady ? {podUid: pod.metadata.uid} : {}),
    outcome: atFirst(
      left(idleSince, idle?.sleepAfter, seen.now),
      left(idleSince, idle?.closeAfter, seen.now),
      silentLeft(life),
      // A turn that is handed over by this look runs from now on.
      runs ? late.leftMs : noticedAfter(life, steady && works ? wholeSeconds(seen.now) : undefined),
    ),
  };
}

function asks({metadata: {name, namespace}}: SessionObject): string {
  return `the agent waits for an answer: kubectl get questions.carrel.dev -n ${namespace ?? ''} -l ${LABEL_SESSION}=${name}`;
}

const MESSAGES = {
  Running: 'a turn runs',
  Idle: 'the agent waits for input',
} as const;

function restartingRunner(report: RunnerStatus | undefined) {
  const message = report?.message ?? 'the runner or the agent ended and is being started again in place';
  return {type: 'RunnerRestarting', reason: knownReason(report?.reason) ?? 'RunnerRestarting', message} as const;
}
