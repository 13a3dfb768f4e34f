import {describe} from 'vitest';
import {agentRuns, type Case, checkPlans, report, unready} from '../../../test/support/plan-cases.ts';
import {ago, POD_UID, pod, revisionData, seen, seenWithPod, session} from '../../../test/support/session-objects.ts';

const CASES: Record<string, Case> = {
  'a new session with a prompt gets volume, first turn and attempt 1': {
    seen: seen({session: session(undefined, {prompt: 'hi'})}),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['CreateVolume', 'CreateInitialTurn'],
    status: {attempt: 1, restart: 0, revision: 'scribe-a6e10000-x'},
    conditions: ['Ready', 'Reconciling'],
    outcome: {kind: 'wait', afterMs: 0},
  },
  'a new session without a prompt prepares its pod': {
    seen: seen(),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['CreateVolume'],
  },
  'a new session that shall sleep and has nothing to do gets no pod': {
    seen: seen({session: session(undefined, {desired: 'Sleeping'})}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: [],
    conditions: ['Ready'],
  },
  'a session that shall sleep runs its prompt first': {
    seen: seen({session: session(undefined, {desired: 'Sleeping', prompt: 'hi'})}),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['CreateVolume', 'CreateInitialTurn'],
  },
  'the Agent is missing': {
    seen: seen({choice: {kind: 'Blocked', reason: 'AgentNotFound', message: 'create it'}}),
    phase: 'Pending',
    ready: 'AgentNotFound',
    steps: [],
    conditions: ['Ready', 'Stalled'],
    outcome: {kind: 'stalled', reason: 'AgentNotFound'},
  },
  'the Agent was applied in the same moment: a quiet wait, nothing to alarm anybody': {
    seen: seen({choice: {kind: 'Unjudged', message: 'being published'}}),
    phase: 'Pending',
    ready: 'Pending',
    steps: [],
    conditions: ['Ready', 'Reconciling'],
    outcome: {kind: 'done'},
  },
  'the attempt is written, its pod is not made yet': {
    seen: seen({
      session: session({phase: 'Starting', attempt: 1, volume: {name: 'v', uid: 'vol'}}),
      current: {name: 'scribe-a6e10000-x', data: revisionData()},
      volume: 'Present',
    }),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['CreatePod'],
    status: {attempt: 1},
  },
  'the gateway has no address yet': {
    seen: seen({
      session: session({phase: 'Starting', attempt: 1, volume: {name: 'v', uid: 'vol'}}),
      current: {name: 'scribe-a6e10000-x', data: revisionData()},
      volume: 'Present',
      addresses: undefined,
    }),
    phase: 'Starting',
    ready: 'Starting',
    steps: [],
    outcome: {kind: 'done'},
  },
  'an earlier pod is still there: no second one is made': {
    seen: seen({
      session: session({phase: 'Starting', attempt: 2, volume: {name: 'v', uid: 'vol'}}),
      current: {name: 'scribe-a6e10000-x', data: revisionData()},
      volume: 'Present',
      strays: [pod()],
    }),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['DeletePod'],
  },
  'a pod that was made and not recorded is taken while its attempt starts': {
    seen: seen({
      session: session({phase: 'Starting', attempt: 1, volume: {name: 'v', uid: 'vol'}}),
      current: {name: 'scribe-a6e10000-x', data: revisionData()},
      volume: 'Present',
      strays: [pod()],
    }),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['CreatePod'],
  },
  'cancelled when its pod was made and not recorded yet: the pod goes': {
    seen: seen({
      session: session({phase: 'Starting', attempt: 1, volume: {name: 'v', uid: 'vol'}}, {desired: 'Cancelled'}),
      current: {name: 'scribe-a6e10000-x', data: revisionData()},
      volume: 'Present',
      strays: [pod()],
    }),
    phase: 'Closed',
    ready: 'Cancelled',
    steps: ['DeletePod'],
  },
  'no node takes the pod': {
    seen: seenWithPod(unready, {
      pod: {
        kind: 'Present',
        pod: pod({
          phase: 'Pending',
          conditions: [{type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/2 nodes'}],
        }),
      },
    }),
    phase: 'Starting',
    ready: 'Unschedulable',
    steps: [],
    outcome: {kind: 'done'},
  },
  'the runner has not reported and the limit is not over': {
    seen: seenWithPod(unready, {pod: agentRuns(30)}),
    phase: 'Starting',
    ready: 'Starting',
    outcome: {kind: 'wait', afterMs: 60_000},
  },
  'the runner was late to say that it starts the agent: its own clock runs from there': {
    seen: seenWithPod(
      {...unready, runner: {podUID: POD_UID, epoch: 1, state: 'Starting', reportedAt: ago(20)}},
      {pod: agentRuns(71)},
    ),
    phase: 'Starting',
    ready: 'Starting',
    outcome: {kind: 'wait', afterMs: 50_000},
  },
  'the runner did not report within the limit': {
    seen: seenWithPod(unready, {pod: agentRuns(91)}),
    phase: 'Failed',
    ready: 'StartFailed',
    steps: ['DeletePod'],
  },
  'the runner reports a command that does not exist': {
    seen: seenWithPod({...unready, ...report('Failed', {reason: 'CommandNotFound', message: 'no /bin/agent'})}),
    phase: 'Failed',
    ready: 'CommandNotFound',
    steps: ['DeletePod'],
    status: {stoppedReason: 'StartFailed'},
  },
  'the runner reports a reason that is not documented': {
    seen: seenWithPod({...unready, ...report('Failed', {reason: 'Whatever', message: 'x'})}),
    phase: 'Failed',
    ready: 'StartFailed',
  },
  'the agent ended for good': {
    seen: seenWithPod(report('Exited', {exit: {code: 3}})),
    phase: 'Failed',
    ready: 'AgentExited',
    status: {stoppedReason: 'AgentExited'},
  },
  'the agent ran out of memory': {
    seen: seenWithPod(report('Exited', {reason: 'AgentKilled', exit: {signal: 'SIGKILL', outOfMemory: true}})),
    phase: 'Failed',
    ready: 'OutOfMemory',
    status: {stoppedReason: 'OutOfMemory'},
  },
};

describe('how a session starts', () => {
  checkPlans(CASES);
});
