import {describe, expect, it} from 'vitest';
import {POD_UID, session} from '../../../test/support/session-objects.ts';
import type {SessionSpec, SessionStatus} from '../../api/v1alpha1/index.ts';
import {jobOf, sayJob} from './job.ts';

const pod = {name: 'carrel-one-5e551011-1', uid: POD_UID};
const first = {name: 'one-5e551011-first', uid: 'turn-uid'};
const admitted = [{...first, sequence: 1}];
const WITH = {prompt: 'say hello'};
const WITHOUT = {};
const PREPARED = 'none: the session has no prompt; it waits for a message';

describe('Z-082 the job of a session', () => {
  const never = 'the session was created but nothing has started it yet';
  const rows: readonly (readonly [string, Partial<SessionSpec>, SessionStatus | undefined, string])[] = [
    ['with a prompt that nothing has taken', WITH, undefined, `not queued: ${never}`],
    ['with a prompt that waits for its Agent', WITH, {phase: 'Pending'}, `not queued: ${never}`],
    ['whose attempt is written, and nothing more', WITH, {phase: 'Starting', attempt: 1}, 'queued'],
    ['whose first turn is made', WITH, {phase: 'Starting', attempt: 1, pod, initialTurn: first}, 'queued'],
    [
      'whose first turn waits while the pod is gone',
      WITH,
      {phase: 'Sleeping', attempt: 1, initialTurn: first},
      'queued',
    ],
    ['that works', WITH, {phase: 'Running', attempt: 1, pod, admitted}, 'running'],
    ['that asks', WITH, {phase: 'NeedsInput', attempt: 1, pod, admitted}, 'running'],
    ['whose turn has ended', WITH, {phase: 'Idle', attempt: 1, pod, initialTurn: first, turns: 1}, 'ended'],
    ['that sleeps after its turn', WITH, {phase: 'Sleeping', attempt: 1, initialTurn: first, turns: 1}, 'ended'],
    ['that failed before its turn', WITH, {phase: 'Failed', attempt: 1}, 'ended'],

    ['without a prompt that nothing has taken', WITHOUT, undefined, `none: the session has no prompt; ${never}`],
    ['with an empty prompt', {prompt: ''}, undefined, `none: the session has no prompt; ${never}`],
    ['that is being prepared', WITHOUT, {phase: 'Starting', attempt: 1, pod}, PREPARED],
    ['that is prepared', WITHOUT, {phase: 'Idle', attempt: 1, pod}, PREPARED],
    ['that was prepared and sleeps', WITHOUT, {phase: 'Sleeping', attempt: 1}, PREPARED],
    ['without a prompt that got a message', WITHOUT, {phase: 'Sleeping', attempt: 1, admitted}, 'queued'],
    ['without a prompt that got one before it was taken', WITHOUT, {phase: 'Pending', queued: 1}, 'queued'],
    ['without a prompt that works on one', WITHOUT, {phase: 'Running', attempt: 1, pod, admitted}, 'running'],
    ['without a prompt that has answered one', WITHOUT, {phase: 'Idle', attempt: 1, pod, turns: 1}, 'ended'],
    ['without a prompt that is closed', WITHOUT, {phase: 'Closed', attempt: 1}, 'ended'],
  ];
  it.each(rows)('%s', (_state, spec, status, said) => {
    const found = session(status, spec);
    expect(sayJob(found, true)).toBe(said);
    expect(jobOf(found, true)).toBe(said.split(':')[0]);
  });

  it.each([
    ['a prompt', WITH, 'starting: the controller is about to queue it'],
    ['no prompt', WITHOUT, 'none: the session has no prompt; it will be prepared and wait for a message'],
  ])('just started with %s', (_state, spec, said) => {
    const found = session(undefined, spec);
    expect(sayJob(found, false)).toBe(said);
    expect(jobOf(found, false)).toBe(said.split(':')[0]);
  });
});
