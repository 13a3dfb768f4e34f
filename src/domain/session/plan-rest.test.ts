import {describe, expect} from 'vitest';
import {
  type Case,
  checkPlans,
  entry,
  going,
  gone,
  queued,
  running,
  unready,
  works,
} from '../../../test/support/plan-cases.ts';
import {
  ACCOUNT_UID,
  ago,
  POD_UID,
  READY,
  revisionData,
  seenWithPod,
  turn,
} from '../../../test/support/session-objects.ts';

const lostTwice = [
  {time: ago(300), event: 'Lost', note: 'a'},
  {time: ago(200), event: 'Started'},
  {time: ago(100), event: 'Lost', note: 'b'},
  {time: ago(90), event: 'Started'},
];

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
  'idle, and the ServiceAccount was deleted and made again: only the pod goes': {
    seen: seenWithPod({}, {account: {uid: 'another'}}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: ['DeletePod'],
    status: {
      timeline: [{event: 'Started'}, {event: 'Sleeping', note: expect.stringMatching(/^ServiceAccountReplaced: /)}],
    },
  },
  'idle, and the ServiceAccount is on its way out: there is nothing to wait for': {
    seen: seenWithPod({}, {account: {uid: ACCOUNT_UID, deletionTimestamp: ago(1)}}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: ['DeletePod'],
  },
  'idle, and the ServiceAccount was made again after two pods were lost: it has nothing that it could not do': {
    seen: seenWithPod({timeline: lostTwice}, {account: {uid: 'another'}}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: ['DeletePod'],
  },
  'the ServiceAccount was made again while its pod is prepared, for the third time: a turn wakes it': {
    seen: seenWithPod({...unready, timeline: lostTwice}, {account: {uid: 'another'}}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: ['DeletePod'],
  },
  'the ServiceAccount was made again for the third time and a turn waits: it would go on for ever': {
    seen: seenWithPod(
      {timeline: lostTwice, admitted: [entry('first', 1)], lastSequence: 1},
      {account: {uid: 'another'}, turns: [turn('first', queued(1))]},
    ),
    phase: 'Failed',
    ready: 'ServiceAccountReplaced',
    steps: ['DeletePod'],
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

describe('a session that rests: asleep, failed, or without its volume', () => {
  checkPlans(CASES);
});
