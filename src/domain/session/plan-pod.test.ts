import {describe} from 'vitest';
import {
  agentEnded,
  type Case,
  checkPlans,
  DELIVERIES,
  entry,
  going,
  gone,
  imagesChanged,
  nameless,
  queued,
  report,
  runnerLoops,
  running,
  unready,
  works,
} from '../../../test/support/plan-cases.ts';
import {
  ago,
  POD_UID,
  pod,
  question,
  READY,
  revisionData,
  SESSION_UID,
  seenWithPod,
  turn,
} from '../../../test/support/session-objects.ts';

const CASES: Record<string, Case> = {
  'a failed session stays as it is until restart is raised': {
    seen: seenWithPod({phase: 'Failed', restart: 0, finishedAt: ago(10), conditions: []}, {pod: gone}),
    phase: 'Failed',
    ready: '',
    steps: [],
    status: {pod: undefined},
  },
  'restart leads out of a failure, with a new attempt on the old volume': {
    seen: seenWithPod(
      {phase: 'Failed', pod: undefined, finishedAt: ago(10), stoppedReason: 'ImagePull'},
      {pod: {kind: 'None'}},
      {restart: 1},
    ),
    phase: 'Starting',
    ready: 'Starting',
    steps: [],
    status: {attempt: 2, restart: 1, stoppedReason: undefined, finishedAt: undefined},
  },
  'restart while a pod runs replaces the pod first': {
    seen: seenWithPod({}, {}, {restart: 1}),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['DeletePod'],
    status: {attempt: 1},
  },
  'a failed session is deleted when its time is over': {
    seen: seenWithPod(
      {phase: 'Failed', pod: undefined, finishedAt: ago(7 * 86_400), conditions: []},
      {pod: {kind: 'None'}},
    ),
    phase: 'Failed',
    ready: '',
    steps: ['DeleteSession'],
  },
  'ready and nothing to do': {
    seen: seenWithPod(),
    phase: 'Idle',
    ready: 'Idle',
    steps: [],
    conditions: ['Ready'],
    outcome: {kind: 'wait', afterMs: 590_000},
  },
  'idle for long enough': {
    seen: seenWithPod({idleSince: ago(600)}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: ['DeletePod'],
    status: {stoppedReason: 'Idle', pod: READY.pod, idleSince: ago(600)},
  },
  'idle for longer than closeAfter': {
    seen: seenWithPod(
      {idleSince: ago(3_600)},
      {current: {name: 'r', data: revisionData({idle: {sleepAfter: '10m', closeAfter: '1h'}})}},
    ),
    phase: 'Closing',
    ready: 'Closing',
    steps: ['DeletePod'],
    status: {stoppedReason: 'Idle'},
  },
  'the gateway moved to another address while a turn runs': {
    seen: seenWithPod(works, {
      addresses: {gateway: '10.9.9.9', egress: '10.0.0.2'},
      turns: [turn('first', running)],
    }),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['AddressMoved', 'Ready'],
  },
  'the gateway moved, the turn has ended and nothing waits: the pod goes, the next turn gets another': {
    seen: seenWithPod({phase: 'Running', idleSince: undefined}, {addresses: {gateway: '10.9.9.9', egress: '10.0.0.2'}}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: ['DeletePod'],
  },
  'the gateway moved and a turn waits: it is not given to a pod that cannot hear': {
    seen: seenWithPod(
      {admitted: [entry('first', 1)], lastSequence: 1},
      {addresses: {gateway: '10.9.9.9', egress: '10.0.0.2'}, turns: [turn('first', queued(1))]},
    ),
    phase: 'Idle',
    ready: 'AddressMoved',
    steps: ['DeletePod'],
  },
  'the relay moved while the pod starts: a new attempt, no failure': {
    seen: seenWithPod(unready, {addresses: {gateway: '10.0.0.1', egress: '10.9.9.9'}}),
    phase: 'Starting',
    ready: 'AddressMoved',
    steps: ['DeletePod'],
  },
  'the gateway moved to another address while idle': {
    seen: seenWithPod({}, {addresses: {gateway: '10.0.0.9', egress: '10.0.0.2'}}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: ['DeletePod'],
  },
  'shall sleep and is idle': {
    seen: seenWithPod({}, {}, {desired: 'Sleeping'}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: ['DeletePod'],
  },
  'shall sleep and a turn runs': {
    seen: seenWithPod(works, {turns: [turn('first', running)]}, {desired: 'Sleeping'}),
    phase: 'Running',
    ready: 'Running',
    steps: [],
  },
  'asleep, its pod is gone': {
    seen: seenWithPod({phase: 'Sleeping', stoppedReason: 'Idle'}, {pod: gone}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: [],
    status: {pod: undefined},
  },
  'asleep and a turn comes': {
    seen: seenWithPod(
      {phase: 'Sleeping', pod: undefined, stoppedReason: 'Idle'},
      {pod: {kind: 'None'}, turns: [turn('first')]},
    ),
    phase: 'Starting',
    ready: 'Starting',
    steps: [],
    status: {attempt: 2, stoppedReason: undefined, admitted: [entry('first', 1)], queued: 1},
  },
  'falling asleep and a turn comes: it waits until the pod is gone': {
    seen: seenWithPod({phase: 'Sleeping'}, {pod: going, turns: [turn('first')]}),
    phase: 'Sleeping',
    ready: 'Starting',
    steps: [],
  },
  'asleep, its pod is gone and a turn waits: this is no loss': {
    seen: seenWithPod(
      {phase: 'Sleeping', admitted: [entry('first', 1)], lastSequence: 1},
      {pod: gone, turns: [turn('first', queued(1))]},
    ),
    phase: 'Starting',
    ready: 'Starting',
    status: {attempt: 2, pod: undefined},
  },
  'a turn runs': {
    seen: seenWithPod(works, {turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['Ready'],
    outcome: {kind: 'done'},
  },
  'a turn runs and asks for leave': {
    seen: seenWithPod(works, {turns: [turn('first', running)], questions: [question('q', {kind: 'Permission'})]}),
    phase: 'NeedsInput',
    ready: 'NeedsInput',
    status: {questions: 1},
  },
  'a question was answered': {
    seen: seenWithPod(works, {turns: [turn('first', running)], questions: [question('q', {answer: {text: 'green'}})]}),
    phase: 'Running',
    ready: 'Running',
    status: {questions: 0},
  },
  'a question of a turn that is over does not hold the session': {
    seen: seenWithPod(
      {},
      {turns: [turn('first', {phase: 'Completed', sessionUID: SESSION_UID})], questions: [question('q')]},
    ),
    phase: 'Idle',
    ready: 'Idle',
    status: {questions: 1},
  },
  'the runner restarts in the middle of a turn': {
    seen: seenWithPod({...works, ...report('Restarting')}, {turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'RunnerRestarting',
    conditions: ['Ready', 'Reconciling', 'RunnerRestarting'],
  },
  'the process beside the agent is silent and may come back': {
    seen: seenWithPod(report('Restarting', {reason: 'AgentUnresponsive', reportedAt: ago(100)})),
    phase: 'Idle',
    ready: 'AgentUnresponsive',
    steps: [],
    outcome: {kind: 'wait', afterMs: 20_000},
  },
  'the process beside the agent was stopped and does not come back: another pod is tried': {
    seen: seenWithPod(report('Restarting', {reason: 'AgentUnresponsive', reportedAt: ago(120)})),
    phase: 'Idle',
    ready: 'AgentUnresponsive',
    steps: ['DeletePod'],
    status: {stoppedReason: 'AgentExited'},
  },
  'an agent that waits for its network to be closed again is waited for': {
    seen: seenWithPod(report('Restarting', {reason: 'NetworkNotIsolated', reportedAt: ago(900)})),
    phase: 'Idle',
    ready: 'NetworkNotIsolated',
    steps: [],
  },
  'the runner found the volume not writable': {
    seen: seenWithPod({
      runner: {
        podUID: POD_UID,
        epoch: 1,
        state: 'Ready',
        findings: [
          {type: 'VolumeNotWritable', reason: 'VolumeNotWritable', message: 'm'},
          {type: 'Ready', reason: 'Idle', message: 'm'},
        ],
      },
    }),
    phase: 'Idle',
    ready: 'Idle',
    conditions: ['Ready', 'VolumeNotWritable'],
  },
  'the node does not answer while a turn runs': {
    seen: seenWithPod(works, {node: 'Unreachable', turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'NodeUnreachable',
    steps: [],
    conditions: ['NodeUnreachable', 'Ready', 'Reconciling'],
  },
  'the pod is lost while a turn runs': {
    seen: seenWithPod(works, {pod: gone, turns: [turn('first', running)]}),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['EndTurn'],
    status: {attempt: 2, pod: undefined, activeTurn: undefined, admitted: undefined, turns: 1},
  },
  'the pod is lost for the third time within ten minutes': {
    seen: seenWithPod(
      {
        timeline: [
          ...(READY.timeline ?? []),
          {time: ago(300), event: 'Lost', note: 'a'},
          {time: ago(200), event: 'Started'},
          {time: ago(100), event: 'Lost', note: 'Evicted: disk'},
          {time: ago(90), event: 'Started'},
        ],
      },
      {pod: gone},
    ),
    phase: 'Failed',
    ready: 'PodLost',
  },
  'the runner ends again and again after it had been ready: another pod is tried': {
    seen: seenWithPod(works, {pod: runnerLoops(5), turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'PodLost',
    steps: ['DeletePod'],
  },
  'the runner ended some times and may come back': {
    seen: seenWithPod(works, {pod: runnerLoops(4), turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'Running',
    steps: [],
  },
  'the pod was evicted': {
    seen: seenWithPod(
      {},
      {pod: {kind: 'Present', pod: pod({phase: 'Failed', reason: 'Evicted', message: 'low on memory'})}},
    ),
    phase: 'Idle',
    ready: 'Evicted',
    steps: ['DeletePod'],
    status: {stoppedReason: 'Evicted'},
  },
  'the ServiceAccount was deleted and made again: tokens are void, the pod is replaced': {
    seen: seenWithPod(works, {accountUid: 'another', turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'ServiceAccountReplaced',
    steps: ['DeletePod'],
    status: {stoppedReason: 'ServiceAccountReplaced'},
  },
  'the ServiceAccount was made again before the runner reported: no failure of the start': {
    seen: seenWithPod(unready, {accountUid: 'another'}),
    phase: 'Starting',
    ready: 'ServiceAccountReplaced',
    steps: ['DeletePod'],
  },
  'the ServiceAccount was made again and the pod ended by that: no failure of the agent': {
    seen: seenWithPod(unready, {accountUid: 'another', pod: agentEnded(0)}),
    phase: 'Starting',
    ready: 'ServiceAccountReplaced',
    steps: ['DeletePod'],
  },
  'a pod of an earlier release does not say which ServiceAccount it was made with': {
    seen: seenWithPod(
      {},
      {accountUid: 'another', pod: {kind: 'Present', pod: pod({phase: 'Running'}, {input: {accountUid: undefined}})}},
    ),
    phase: 'Idle',
    ready: 'Idle',
    steps: [],
  },
  'the findings of a pod that is gone are its own': {
    seen: seenWithPod(
      {
        phase: 'Sleeping',
        runner: {
          podUID: POD_UID,
          epoch: 1,
          state: 'Ready',
          findings: [{type: 'ArchiveUnavailable', reason: 'ArchiveUnavailable', message: 'x'}],
        },
      },
      {pod: gone},
      {desired: 'Sleeping'},
    ),
    phase: 'Sleeping',
    ready: 'Sleeping',
    conditions: ['Ready'],
  },
  'the ServiceAccount is missing for a moment: it is made again, and then its pods go': {
    seen: seenWithPod({}, {accountUid: undefined}),
    phase: 'Idle',
    ready: 'Idle',
    steps: [],
  },
  'the agent container was killed for memory after it had been ready': {
    seen: seenWithPod({}, {pod: agentEnded(137, 'OOMKilled')}),
    phase: 'Idle',
    ready: 'OutOfMemory',
    steps: ['DeletePod'],
  },
  'the agent container was ended by order before the runner reported, so the agent is not blamed': {
    seen: seenWithPod(unready, {pod: agentEnded(0)}),
    phase: 'Failed',
    ready: 'PodLost',
    steps: ['DeletePod'],
  },
  'the agent container ended before the runner reported': {
    seen: seenWithPod(unready, {pod: agentEnded(1)}),
    phase: 'Failed',
    ready: 'AgentExited',
    steps: ['DeletePod'],
  },
  'somebody added a debug container': {
    seen: seenWithPod(
      {},
      {
        pod: {
          kind: 'Present',
          pod: pod({phase: 'Running'}, {spec: {ephemeralContainers: [{name: 'debug', image: 'x'}]}}),
        },
      },
    ),
    phase: 'Failed',
    ready: 'PodMutated',
    steps: ['DeletePod'],
  },
  ...Object.fromEntries(
    DELIVERIES.flatMap((delivery) => [
      [
        `${delivery}: every image is as the pod was made`,
        {seen: imagesChanged(delivery, {}), phase: 'Idle', ready: 'Idle'},
      ],
      ...['runner', 'seed', 'agent'].map((name) => [
        `${delivery}: somebody swapped the image of ${name}`,
        {seen: imagesChanged(delivery, {[name]: 'evil'}), phase: 'Failed', ready: 'PodMutated', steps: ['DeletePod']},
      ]),
    ]),
  ),
  'somebody swapped the images of the runner and of the container that copied the runtime, alike': {
    seen: imagesChanged('InitContainer', {runner: 'evil', runtime: 'evil'}),
    phase: 'Failed',
    ready: 'PodMutated',
    steps: ['DeletePod'],
  },
  'a pod of an earlier release copied the runtime, and names its image nowhere else': {
    seen: imagesChanged('InitContainer', {}, nameless),
    phase: 'Idle',
    ready: 'Idle',
  },
  'the same, and somebody swapped the image of the runner': {
    seen: imagesChanged('InitContainer', {runner: 'evil'}, nameless),
    phase: 'Failed',
    ready: 'PodMutated',
  },
  'the volume is gone': {
    seen: seenWithPod({}, {volume: 'Lost'}),
    phase: 'Failed',
    ready: 'WorkspaceLost',
    steps: ['DeletePod'],
  },
  'the volume is gone and restart was raised': {
    seen: seenWithPod(
      {phase: 'Failed', pod: undefined, seeded: true},
      {pod: {kind: 'None'}, volume: 'Lost'},
      {restart: 1},
    ),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['CreateVolume'],
    status: {seeded: undefined, attempt: 2},
  },
};

describe('a session with a pod, asleep, or without one', () => {
  checkPlans(CASES);
});
