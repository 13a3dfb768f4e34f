import {describe} from 'vitest';
import {
  type Case,
  checkPlans,
  entry,
  queued,
  report,
  running,
  unready,
  works,
} from '../../../test/support/plan-cases.ts';
import {ago, POD_UID, question, SESSION_UID, seenWithPod, turn} from '../../../test/support/session-objects.ts';

const CASES: Record<string, Case> = {
  'ready and nothing to do': {
    seen: seenWithPod(),
    phase: 'Idle',
    ready: 'Idle',
    steps: [],
    conditions: ['Ready'],
    outcome: {kind: 'wait', afterMs: 590_000},
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
  'a turn runs': {
    seen: seenWithPod(works, {turns: [turn('first', {...running, startedAt: ago(60)})]}),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['Ready'],
    // The limit of an hour, and five minutes.
    outcome: {kind: 'wait', afterMs: 3_840_000},
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
  'a form was answered by what does not fit it': {
    seen: seenWithPod(works, {
      turns: [turn('first', running)],
      questions: [question('q', {kind: 'Elicitation', answer: {content: '{a}'}})],
    }),
    phase: 'NeedsInput',
    ready: 'NeedsInput',
    status: {questions: 1},
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
};

describe('a session with a pod', () => {
  checkPlans(CASES);
});
