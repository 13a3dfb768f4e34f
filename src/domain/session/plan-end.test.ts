import {describe} from 'vitest';
import {
  bare,
  type Case,
  checkPlans,
  entry,
  going,
  gone,
  queued,
  running,
  works,
} from '../../../test/support/plan-cases.ts';
import {ago, pod, READY, seenWithPod, session, turn} from '../../../test/support/session-objects.ts';

const CASES: Record<string, Case> = {
  'shall close while a turn runs': {
    seen: seenWithPod(works, {turns: [turn('first', running), turn('second')]}, {desired: 'Closed'}),
    phase: 'Closing',
    ready: 'Closing',
    steps: ['EndTurn'],
    status: {activeTurn: entry('first', 1), stoppedReason: 'Closed'},
  },
  'shall close while a turn ran in a pod that was evicted: nothing will end it but the end of the pod': {
    seen: seenWithPod(
      works,
      {
        pod: {kind: 'Present', pod: pod({phase: 'Failed', reason: 'Evicted', message: 'low on memory'})},
        turns: [turn('first', running)],
      },
      {desired: 'Closed'},
    ),
    phase: 'Closing',
    ready: 'Closing',
    steps: ['DeletePod'],
  },
  'shall close when a turn was chosen and not handed over: it never runs': {
    seen: seenWithPod(works, {turns: [turn('first', queued(1))]}, {desired: 'Closed'}),
    phase: 'Closing',
    ready: 'Closing',
    steps: ['DeletePod', 'EndTurn'],
    status: {activeTurn: undefined},
  },
  'shall not close any more while it closes: it closes all the same, and says why': {
    seen: seenWithPod({phase: 'Closing', stoppedReason: 'Cancelled', pod: undefined}, {pod: gone}, {desired: 'Active'}),
    phase: 'Closed',
    ready: 'ClosedForGood',
    status: {stoppedReason: 'Cancelled'},
    conditions: ['Complete', 'Ready', 'Stalled'],
  },
  'closed and shall be active again: it says that it is closed for good, and is on no way to it': {
    seen: seenWithPod({phase: 'Closed', stoppedReason: 'Closed', pod: undefined, finishedAt: ago(9)}, bare),
    phase: 'Closed',
    ready: 'ClosedForGood',
    steps: [],
    conditions: ['Complete', 'Ready', 'Stalled'],
  },
  'closed as asked, and looked at once more': {
    seen: seenWithPod({phase: 'Closed', stoppedReason: 'Closed', pod: undefined, finishedAt: ago(9)}, bare, {
      desired: 'Closed',
    }),
    phase: 'Closed',
    ready: 'Closed',
    conditions: ['Complete', 'Ready'],
  },
  'closed by the limit of its Agent: nobody asked for anything else': {
    seen: seenWithPod({phase: 'Closed', stoppedReason: 'Idle', pod: undefined, finishedAt: ago(9)}, bare),
    phase: 'Closed',
    ready: 'Closed',
    conditions: ['Complete', 'Ready'],
  },
  'its pod was deleted and the node does not answer: the next step is told': {
    seen: seenWithPod(works, {pod: going, node: 'Unreachable', turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'NodeUnreachable',
    conditions: ['NodeUnreachable', 'Ready', 'Reconciling'],
    steps: [],
  },
  'shall be cancelled while the node does not answer: the next step is told': {
    seen: seenWithPod(works, {node: 'Unreachable', turns: [turn('first', running)]}, {desired: 'Cancelled'}),
    phase: 'Closing',
    ready: 'Closing',
    steps: ['DeletePod'],
    conditions: ['NodeUnreachable', 'Ready', 'Reconciling'],
  },
  'shall be cancelled while a turn runs': {
    seen: seenWithPod(works, {turns: [turn('first', running)]}, {desired: 'Cancelled'}),
    phase: 'Closing',
    ready: 'Closing',
    steps: ['DeletePod'],
  },
  'cancelled, its pod is gone': {
    seen: seenWithPod(
      {...works, phase: 'Closing'},
      {pod: gone, turns: [turn('first', running)]},
      {desired: 'Cancelled'},
    ),
    phase: 'Closed',
    ready: 'Cancelled',
    steps: ['EndTurn'],
    status: {stoppedReason: 'Cancelled', finishedAt: ago(0)},
    conditions: ['Complete', 'Ready'],
  },
  'closed and its time is over': {
    seen: seenWithPod({phase: 'Closed', pod: undefined, finishedAt: ago(7 * 86_400), conditions: []}, bare, {
      desired: 'Closed',
    }),
    phase: 'Closed',
    ready: 'Closed',
    steps: ['DeleteSession'],
  },
  'shall be archived': {
    seen: seenWithPod({}, {}, {desired: 'Archived'}),
    phase: 'Archived',
    ready: 'Archived',
    steps: ['DeletePod'],
    status: {stoppedReason: 'Archived'},
  },
  'archived and active again: it sleeps until a turn comes': {
    seen: seenWithPod({phase: 'Archived', pod: undefined}, {pod: {kind: 'None'}}),
    phase: 'Sleeping',
    ready: 'Sleeping',
  },
  'on its way out': {
    seen: seenWithPod(
      {},
      {session: {...session({...READY}), metadata: {...session(READY).metadata, deletionTimestamp: ago(1)}}},
    ),
    phase: 'Idle',
    ready: '',
    steps: [],
  },
};

describe('how a session ends', () => {
  checkPlans(CASES);
});
