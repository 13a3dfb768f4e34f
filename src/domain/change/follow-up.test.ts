import {describe, expect, test} from 'vitest';
import type {SessionObject} from '../../api/v1alpha1/index.ts';
import {Refusal} from '../refusal.ts';
import {planFollowUp} from './follow-up.ts';

type Phase = NonNullable<NonNullable<SessionObject['status']>['phase']>;

function session(
  phase: Phase | undefined,
  change: {desired?: SessionObject['spec']['desired']; deleted?: boolean} = {},
): SessionObject {
  return {
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'Session',
    metadata: {
      name: 's',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(change.deleted ? {deletionTimestamp: '2026-01-01T00:00:01Z'} : {}),
    },
    spec: {agent: 'a', desired: change.desired ?? 'Active', restart: 0, ttlAfterFinished: '7d', turnHistoryLimit: 20},
    ...(phase === undefined ? {} : {status: {phase}}),
  };
}

describe('Z-099 Z-100 follow_up', () => {
  test.each<[Phase | undefined, string, string]>([
    ['Running', 'Queue queued', 'Interrupt interrupting'],
    ['NeedsInput', 'Interrupt delivered', 'Interrupt delivered'],
    ['Idle', 'Queue delivered', 'Queue delivered'],
    ['Sleeping', 'Queue delivered', 'Queue delivered'],
    ['Pending', 'Queue queued', 'Queue queued'],
    ['Starting', 'Queue queued', 'Queue queued'],
    [undefined, 'Queue queued', 'Queue queued'],
  ])('%s: %s; forced: %s', (phase, normal, forced) => {
    const said = (force: boolean) => {
      const plan = planFollowUp(session(phase), force);
      return `${plan.delivery} ${plan.outcome}`;
    };
    expect([said(false), said(true)]).toEqual([normal, forced]);
  });

  test.each<[string, SessionObject]>([
    ['failed', session('Failed')],
    ['archived', session('Archived')],
    ['to be archived', session('Running', {desired: 'Archived'})],
    ['closing', session('Closing')],
    ['closed', session('Closed')],
    ['to be closed', session('Idle', {desired: 'Closed'})],
    ['cancelled', session('Idle', {desired: 'Cancelled'})],
    ['being deleted', session('Idle', {deleted: true})],
  ])('a session that is %s refuses, forced or not', (_, target) => {
    for (const force of [false, true]) {
      expect(() => planFollowUp(target, force)).toThrow(Refusal);
      expect(() => planFollowUp(target, force)).toThrow(/takes no messages; /);
    }
  });

  test('to be put to sleep is not the end: a message wakes it', () => {
    expect(planFollowUp(session('Sleeping', {desired: 'Sleeping'}), false).outcome).toBe('delivered');
  });
});
