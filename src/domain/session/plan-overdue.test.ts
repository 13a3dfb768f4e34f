import {describe, expect, it} from 'vitest';
import {type Case, checkPlans, entry, queued, report, running, works} from '../../../test/support/plan-cases.ts';
import {ago, POD_UID, question, revisionData, seenWithPod, turn} from '../../../test/support/session-objects.ts';
import {ARCHIVE_TROUBLE} from '../archive.ts';
import {planSession} from './plan.ts';

const LIMIT = 3_600;
/** The turn that runs, handed over so many seconds ago. */
const since = (seconds: number) => ({turns: [turn('first', {...running, startedAt: ago(seconds)})]});
/** What the session said so many seconds ago. */
const noticed = (seconds: number) => ({
  conditions: [
    {
      type: 'TurnOverdue',
      reason: 'TurnOverdue',
      status: 'True' as const,
      message: 'as it was worded before',
      observedGeneration: 1,
      lastTransitionTime: ago(seconds),
    },
  ],
});
const archiveAway = {
  runner: {podUID: POD_UID, epoch: 1, state: 'Ready' as const, findings: [{...ARCHIVE_TROUBLE}]},
};
const afterMinutes = (minutes: number) => ({kind: 'wait', afterMs: minutes * 60_000});

const CASES: Record<string, Case> = {
  'it is handed over now: a look follows when it is late': {
    seen: seenWithPod(
      {admitted: [entry('first', 1)], lastSequence: 1},
      {turns: [turn('first', queued(1))], current: {name: 'r', data: revisionData({limits: {turn: '10m'}})}},
    ),
    phase: 'Running',
    ready: 'Running',
    outcome: afterMinutes(15),
  },
  'it is over the limit and its report may be on the way': {
    seen: seenWithPod(works, since(LIMIT + 299)),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['Ready'],
    outcome: {kind: 'wait', afterMs: 1_000},
  },
  'it is late: the session says so': {
    seen: seenWithPod(works, since(LIMIT + 300)),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['Ready', 'TurnOverdue'],
    outcome: {kind: 'done'},
  },
  'it is late by days: nobody gives it up, because its end may wait in the pod': {
    seen: seenWithPod({...works, ...noticed(400_000)}, since(LIMIT + 400_300)),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['Ready', 'TurnOverdue'],
    outcome: {kind: 'done'},
  },
  'the archive takes nothing: both are said': {
    seen: seenWithPod({...works, ...archiveAway, ...noticed(300)}, since(LIMIT + 600)),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['ArchiveUnavailable', 'Ready', 'TurnOverdue'],
  },
  'it waits for an answer: the limit counts that time, here as in the runner': {
    seen: seenWithPod({...works, ...noticed(300)}, {...since(LIMIT + 600), questions: [question('q')]}),
    phase: 'NeedsInput',
    ready: 'NeedsInput',
    conditions: ['Ready', 'TurnOverdue'],
  },
  'it ended late after all, and the next one begins': {
    seen: seenWithPod(
      {...works, ...noticed(299), activeTurn: entry('second', 2), admitted: [entry('second', 2)], lastSequence: 2},
      {turns: [turn('second', {...running, sequence: 2, startedAt: ago(0)})]},
    ),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['Ready'],
  },
  'its runner was told to be started again in place, and is not: the limit counts all the same': {
    seen: seenWithPod({...works, ...report('Restarting'), ...noticed(300)}, since(LIMIT + 600)),
    phase: 'Running',
    ready: 'RunnerRestarting',
    conditions: ['Ready', 'Reconciling', 'RunnerRestarting', 'TurnOverdue'],
  },
  'the gateway moved, and nobody gave it its address back': {
    seen: seenWithPod(
      {...works, ...noticed(300)},
      {...since(LIMIT + 600), addresses: {gateway: '10.9.9.9', egress: '10.0.0.2'}},
    ),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['AddressMoved', 'Ready', 'TurnOverdue'],
  },
  'its node does not answer: nothing is decided': {
    seen: seenWithPod({...works, ...noticed(300)}, {...since(LIMIT + 600), node: 'Unreachable'}),
    phase: 'Running',
    ready: 'NodeUnreachable',
    steps: [],
  },
  'the revision that runs is gone, so nobody knows its limit': {
    seen: seenWithPod(works, {...since(LIMIT + 600), current: undefined}),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['Ready'],
  },
  'the session closes: it waits until the turn is late': {
    seen: seenWithPod({...works, phase: 'Closing'}, since(LIMIT), {desired: 'Closed'}),
    phase: 'Closing',
    ready: 'Closing',
    steps: [],
    conditions: ['Ready', 'Reconciling'],
    outcome: afterMinutes(5),
  },
  'the session closes and the turn is late: it is said there as well': {
    seen: seenWithPod({...works, phase: 'Closing'}, since(LIMIT + 300), {desired: 'Closed'}),
    phase: 'Closing',
    ready: 'Closing',
    steps: [],
    conditions: ['Ready', 'Reconciling', 'TurnOverdue'],
    outcome: {kind: 'done'},
  },
  'the session is cancelled while the turn is late: its pod goes, and nothing is advised': {
    seen: seenWithPod({...works, ...noticed(9), phase: 'Closing'}, since(LIMIT + 309), {desired: 'Cancelled'}),
    phase: 'Closing',
    ready: 'Closing',
    steps: ['DeletePod'],
    conditions: ['Ready', 'Reconciling'],
  },
  'the session closes, the process beside the agent is silent, and so is the node: nothing is decided': {
    seen: seenWithPod(
      {
        ...works,
        phase: 'Closing',
        runner: {podUID: POD_UID, epoch: 1, state: 'Restarting', reason: 'AgentUnresponsive', reportedAt: ago(9_000)},
      },
      {...since(10), node: 'Unreachable'},
      {desired: 'Closed'},
    ),
    phase: 'Closing',
    ready: 'Closing',
    steps: [],
    outcome: {kind: 'done'},
  },
  'the session closes while its node does not answer: nothing is decided': {
    seen: seenWithPod(
      {...works, ...noticed(300), phase: 'Closing'},
      {...since(LIMIT + 600), node: 'Unreachable'},
      {desired: 'Closed'},
    ),
    phase: 'Closing',
    ready: 'Closing',
    steps: [],
    conditions: ['NodeUnreachable', 'Ready', 'Reconciling'],
  },
};

describe('a turn that runs longer than its limit', () => {
  checkPlans(CASES);

  it('says which turn, which limit, where to look, and the command that ends it', () => {
    const told = (status: object, spec: object) =>
      planSession(seenWithPod({...works, ...status}, since(LIMIT + 300), spec)).status.conditions?.find(
        (c) => c.type === 'TurnOverdue',
      )?.message;
    expect(told({}, {})).toMatch(
      /^turn first runs since .*Z, longer than limits\.turn \(1h\) .*kubectl logs carrel-.* -c runner; .*"restart":1/,
    );
    // There it does nothing.
    expect(told({phase: 'Closing'}, {desired: 'Closed'})).toMatch(/"desired":"Cancelled"/);
  });
});
