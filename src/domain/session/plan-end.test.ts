import {describe, expect, it} from 'vitest';
import {
  agentEnded,
  bare,
  type Case,
  checkPlans,
  entry,
  going,
  gone,
  queued,
  report,
  running,
  works,
} from '../../../test/support/plan-cases.ts';
import {ago, pod, READY, seenWithPod, session, turn} from '../../../test/support/session-objects.ts';
import {planSession} from './plan.ts';
import type {SessionSeen} from './seen.ts';

const debugged = {
  kind: 'Present' as const,
  pod: pod({phase: 'Running'}, {spec: {ephemeralContainers: [{name: 'debug', image: 'x'}]}}),
};

const readyFor = (reason: string) => ({
  type: 'Ready',
  status: 'False' as const,
  reason,
  message: 'as told',
  observedGeneration: 1,
  lastTransitionTime: ago(1),
});

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
    ready: 'Evicted',
    steps: ['DeletePod'],
  },
  'shall close while a turn runs whose pod has void tokens: its end would never be taken': {
    seen: seenWithPod(works, {account: {uid: 'another'}, turns: [turn('first', running)]}, {desired: 'Closed'}),
    phase: 'Closing',
    ready: 'ServiceAccountReplaced',
    steps: ['DeletePod'],
    conditions: ['Ready', 'Reconciling'],
  },
  'closes while a turn runs in a pod that somebody changed: it is not waited for': {
    seen: seenWithPod(
      {...works, phase: 'Closing'},
      {pod: debugged, turns: [turn('first', running)]},
      {desired: 'Closed'},
    ),
    phase: 'Closing',
    ready: 'PodMutated',
    steps: ['DeletePod'],
  },
  'closes while a turn runs and the process beside the agent is silent: it may come back': {
    seen: seenWithPod(
      {...works, ...report('Restarting', {reason: 'AgentUnresponsive', reportedAt: ago(100)}), phase: 'Closing'},
      {turns: [turn('first', running)]},
      {desired: 'Closed'},
    ),
    phase: 'Closing',
    ready: 'Closing',
    steps: [],
    outcome: {kind: 'wait', afterMs: 20_000},
  },
  'closes while a turn runs and the process beside the agent did not come back': {
    seen: seenWithPod(
      {...works, ...report('Restarting', {reason: 'AgentUnresponsive', reportedAt: ago(120)}), phase: 'Closing'},
      {turns: [turn('first', running)]},
      {desired: 'Closed'},
    ),
    phase: 'Closing',
    ready: 'AgentUnresponsive',
    steps: ['DeletePod'],
  },
  'closes while a turn runs and the gateway moved: it waits, and says why it may be in vain': {
    seen: seenWithPod(
      {...works, phase: 'Closing'},
      {addresses: {gateway: '10.9.9.9', egress: '10.0.0.2'}, turns: [turn('first', running)]},
      {desired: 'Closed'},
    ),
    phase: 'Closing',
    ready: 'Closing',
    steps: [],
    conditions: ['AddressMoved', 'Ready', 'Reconciling'],
  },
  'shall be cancelled while the gateway moved: nothing is waited for': {
    seen: seenWithPod(
      works,
      {addresses: {gateway: '10.9.9.9', egress: '10.0.0.2'}, turns: [turn('first', running)]},
      {desired: 'Cancelled'},
    ),
    phase: 'Closing',
    ready: 'Closing',
    steps: ['DeletePod'],
    conditions: ['Ready', 'Reconciling'],
  },
  'closes while a turn runs whose pod was deleted, and that ended its agent: the deletion is what it says': {
    seen: seenWithPod(
      {...works, phase: 'Closing'},
      {
        pod: {kind: 'Present', pod: {...agentEnded(137).pod, metadata: going.pod.metadata}},
        turns: [turn('first', running)],
      },
      {desired: 'Closed'},
    ),
    phase: 'Closing',
    ready: 'PodLost',
    steps: [],
  },
  'closes for a fault that it has told, and the pod goes: it goes on telling that': {
    seen: seenWithPod(
      {...works, phase: 'Closing', conditions: [readyFor('Evicted')]},
      {pod: going, turns: [turn('first', running)]},
      {desired: 'Closed'},
    ),
    phase: 'Closing',
    ready: 'Evicted',
    conditions: ['Ready'],
    steps: [],
  },
  'closes while a turn runs, and its pod is deleted now': {
    seen: seenWithPod(
      {...works, phase: 'Closing', conditions: [readyFor('Closing')]},
      {pod: going, turns: [turn('first', running)]},
      {desired: 'Closed'},
    ),
    phase: 'Closing',
    ready: 'PodLost',
    steps: [],
  },
  'closes for a fault that it has told, and the node of the pod that goes is silent: the next step comes first': {
    seen: seenWithPod(
      {...works, phase: 'Closing', conditions: [readyFor('Evicted')]},
      {pod: going, node: 'Unreachable', turns: [turn('first', running)]},
      {desired: 'Closed'},
    ),
    phase: 'Closing',
    ready: 'PodLost',
    conditions: ['NodeUnreachable', 'Ready', 'Reconciling'],
    steps: [],
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

/** The message of Ready of a session that closes while its turn runs. */
const closingSays = (over: Partial<SessionSeen>) => {
  const seen = seenWithPod(
    {...works, phase: 'Closing'},
    {turns: [turn('first', running)], ...over},
    {desired: 'Closed'},
  );
  return planSession(seen).status.conditions?.find((c) => c.type === 'Ready')?.message;
};

describe('how a session ends', () => {
  checkPlans(CASES);

  it('that closes and cannot hear its turn says why, and what helps while it closes', () => {
    expect(closingSays({account: {uid: 'another'}})).toMatch(
      /^ServiceAccount .* voids the tokens of pod .*; .* its turn did is unknown$/,
    );
    expect(closingSays({pod: going})).toMatch(/^pod .* is being deleted; .* its turn did is unknown$/);
    expect(closingSays({node: 'Unreachable'})).toMatch(
      /does not answer; if it is dead: kubectl delete pod .* -n team --force$/,
    );
    expect(closingSays({addresses: {gateway: '10.9.9.9', egress: '10.0.0.2'}})).toMatch(
      /^the session closes when .*, but the gateway moved from 10.0.0.1 to 10.9.9.9: .*"desired":"Cancelled"}}'$/,
    );
  });
});
