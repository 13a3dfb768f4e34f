import {describe} from 'vitest';
import {
  agentEnded,
  type Case,
  checkPlans,
  DELIVERIES,
  entry,
  gone,
  imagesChanged,
  nameless,
  queued,
  runnerLoops,
  running,
  unready,
  works,
} from '../../../test/support/plan-cases.ts';
import {ACCOUNT_UID, ago, pod, READY, seenWithPod, turn} from '../../../test/support/session-objects.ts';

/** The ServiceAccount of the pod, deleted so many seconds ago and held by a finalizer. */
const leavingFor = (seconds: number) => ({uid: ACCOUNT_UID, deletionTimestamp: ago(seconds)});

const CASES: Record<string, Case> = {
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
    seen: seenWithPod(works, {account: {uid: 'another'}, turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'ServiceAccountReplaced',
    steps: ['DeletePod'],
    status: {stoppedReason: 'ServiceAccountReplaced'},
  },
  'the ServiceAccount was made again before the runner reported: no failure of the start': {
    seen: seenWithPod(unready, {account: {uid: 'another'}}),
    phase: 'Starting',
    ready: 'ServiceAccountReplaced',
    steps: ['DeletePod'],
  },
  'the ServiceAccount was made again and the pod ended by that: no failure of the agent': {
    seen: seenWithPod(unready, {account: {uid: 'another'}, pod: agentEnded(0)}),
    phase: 'Starting',
    ready: 'ServiceAccountReplaced',
    steps: ['DeletePod'],
  },
  'a pod of an earlier release does not say which ServiceAccount it was made with': {
    seen: seenWithPod(
      {},
      {
        account: {uid: 'another'},
        pod: {kind: 'Present', pod: pod({phase: 'Running'}, {input: {accountUid: undefined}})},
      },
    ),
    phase: 'Idle',
    ready: 'Idle',
    steps: [],
  },
  'the ServiceAccount is on its way out and held: a turn that runs may still end': {
    seen: seenWithPod(works, {account: leavingFor(20), turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    outcome: {kind: 'wait', afterMs: 40_000},
  },
  'the ServiceAccount is held for a minute: the API server takes its tokens no longer': {
    seen: seenWithPod(works, {account: leavingFor(60), turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'ServiceAccountReplaced',
    steps: ['DeletePod'],
  },
  'the ServiceAccount is on its way out and a turn waits: it is given to another pod': {
    seen: seenWithPod(
      {admitted: [entry('first', 1)], lastSequence: 1},
      {account: leavingFor(1), turns: [turn('first', queued(1))]},
    ),
    phase: 'Idle',
    ready: 'ServiceAccountReplaced',
    steps: ['DeletePod'],
    status: {activeTurn: undefined},
  },
  'the ServiceAccount is on its way out while its pod starts: that one would not live long': {
    seen: seenWithPod(unready, {account: leavingFor(-2)}),
    phase: 'Starting',
    ready: 'ServiceAccountReplaced',
    steps: ['DeletePod'],
  },
  'the ServiceAccount is missing for a moment: it is made again, and then its pods go': {
    seen: seenWithPod({}, {account: undefined}),
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
};

describe('a session whose pod is lost, or is not what was asked for any more', () => {
  checkPlans(CASES);
});
