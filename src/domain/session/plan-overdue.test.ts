import {describe, expect, it} from 'vitest';
import {type Case, checkPlans, entry, gone, queued, report, running, works} from '../../../test/support/plan-cases.ts';
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
  'it is late: the session says so and waits a while more': {
    seen: seenWithPod(works, since(LIMIT + 300)),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['Ready', 'TurnOverdue'],
    outcome: afterMinutes(5),
  },
  'it is late by days when the controller comes back: its end gets the same time to come': {
    seen: seenWithPod(works, since(LIMIT + 400_000)),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['Ready', 'TurnOverdue'],
    outcome: afterMinutes(5),
  },
  'it was said to be late a while ago': {
    seen: seenWithPod({...works, ...noticed(240)}, since(LIMIT + 540)),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['Ready', 'TurnOverdue'],
    outcome: afterMinutes(1),
  },
  'it did not end for long enough: its pod is given up': {
    seen: seenWithPod({...works, ...noticed(300)}, since(LIMIT + 600)),
    phase: 'Running',
    ready: 'TurnOverdue',
    steps: ['DeletePod'],
    status: {stoppedReason: 'AgentExited', timeline: [{event: 'Started'}, {event: 'Lost'}]},
    conditions: ['Ready', 'Reconciling', 'TurnOverdue'],
  },
  'it waits for an answer: the limit counts that time, here as in the runner': {
    seen: seenWithPod({...works, ...noticed(300)}, {...since(LIMIT + 600), questions: [question('q')]}),
    phase: 'Running',
    ready: 'TurnOverdue',
    steps: ['DeletePod'],
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
  'the archive takes nothing, so its end may wait for that': {
    seen: seenWithPod({...works, ...archiveAway, ...noticed(300)}, since(LIMIT + 600)),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['ArchiveUnavailable', 'Ready'],
    outcome: afterMinutes(5),
  },
  'its runner was told to be started again in place, and is not: the limit counts all the same': {
    seen: seenWithPod({...works, ...report('Restarting'), ...noticed(300)}, since(LIMIT + 600)),
    phase: 'Running',
    ready: 'TurnOverdue',
    steps: ['DeletePod'],
  },
  'the gateway moved, and nobody gave it its address back': {
    seen: seenWithPod(
      {...works, ...noticed(300)},
      {...since(LIMIT + 600), addresses: {gateway: '10.9.9.9', egress: '10.0.0.2'}},
    ),
    phase: 'Running',
    ready: 'TurnOverdue',
    steps: ['DeletePod'],
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
    outcome: afterMinutes(5),
  },
  'the session closes and the turn did not end for long enough: it is waited for no longer': {
    seen: seenWithPod({...works, ...noticed(300), phase: 'Closing'}, since(LIMIT + 600), {desired: 'Closed'}),
    phase: 'Closing',
    ready: 'TurnOverdue',
    steps: ['DeletePod'],
    conditions: ['Ready', 'Reconciling', 'TurnOverdue'],
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
  'the session closes while the archive takes nothing': {
    seen: seenWithPod({...works, ...archiveAway, ...noticed(300), phase: 'Closing'}, since(LIMIT + 600), {
      desired: 'Closed',
    }),
    phase: 'Closing',
    ready: 'Closing',
    steps: [],
    outcome: afterMinutes(5),
  },
};

describe('a turn that runs longer than its limit', () => {
  checkPlans(CASES);

  it('gets its time anew after the archive was away, however the end of that is seen', () => {
    const before = {...ARCHIVE_TROUBLE, status: 'True' as const, lastTransitionTime: ago(9_000)};
    const first = planSession(seenWithPod({...works, conditions: [before]}, since(LIMIT + 9_000)));
    expect(first.status.conditions?.map((c) => c.type)).toEqual(['Ready']);
    expect(first.outcome).toEqual(afterMinutes(5));
    const second = planSession(seenWithPod(first.status, since(LIMIT + 9_300)));
    expect(second.steps).toEqual([]);
    expect(second.status.conditions?.map((c) => c.type)).toEqual(['Ready', 'TurnOverdue']);
  });

  it('says which turn, which limit and what follows, and tells the deletion of its pod in an Event of its own', () => {
    const late = planSession(seenWithPod(works, since(LIMIT + 300)));
    expect(late.notes).toEqual([]);
    expect(late.status.conditions?.find((c) => c.type === 'TurnOverdue')?.message).toMatch(
      /^turn first runs since .*Z, longer than limits\.turn \(1h\) .* within 5 min .* outcome_unknown/,
    );
    const given = planSession(seenWithPod({...works, ...noticed(300)}, since(LIMIT + 600)));
    expect(given.notes).toEqual([
      {
        reason: 'TurnOverdue',
        action: 'DeletePod',
        note: expect.stringMatching(/^turn first .* what its turn did is unknown, and a new attempt follows$/),
      },
    ]);
  });

  it('ends as unknown when its pod is gone, and says that it was late', () => {
    const plan = planSession(seenWithPod({...works, ...noticed(310)}, {...since(LIMIT + 610), pod: gone}));
    expect(plan.steps).toMatchObject([
      {do: 'EndTurn', end: {phase: 'Failed', code: 'outcome_unknown', message: expect.stringContaining('limits.turn')}},
    ]);
  });
});
