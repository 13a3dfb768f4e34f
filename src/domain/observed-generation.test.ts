import {describe, expect, it} from 'vitest';
import {
  ago,
  NOW,
  POD_UID,
  pod,
  question,
  revisionData,
  SESSION_UID,
  seen,
  seenWithPod,
  session,
  turn,
} from '../../test/support/session-objects.ts';
import type {Condition} from '../api/kube-object.ts';
import {
  type AgentObject,
  QUESTION_TERMINAL,
  Session,
  type SessionStatus,
  TURN_TERMINAL,
  Turn,
} from '../api/v1alpha1/index.ts';
import {planAgent} from './agent/plan.ts';
import {planQuestion} from './question/plan.ts';
import {planSession} from './session/plan.ts';
import type {SessionSeen} from './session/seen.ts';
import {sessionMissingConditions} from './turn/conditions.ts';
import {observedEdit} from './turn/status.ts';

// Judged once at generation 1, edited since: the next look must name generation 5 everywhere, or `kubectl wait` and kstatus
// say for ever that it is not looked at yet.
const GENERATION = 5;
const old = (...types: string[]): Condition[] =>
  types.map((type) => ({
    type,
    status: 'True',
    reason: 'Idle',
    message: 'judged before',
    lastTransitionTime: ago(60),
    observedGeneration: 1,
  }));
const edited = <T extends {metadata: object}>(object: T): T => ({
  ...object,
  metadata: {...object.metadata, generation: GENERATION},
});

function expectObserved(status: {
  observedGeneration?: number | undefined;
  conditions?: readonly Condition[] | undefined;
}) {
  expect(status.observedGeneration).toBe(GENERATION);
  expect(status.conditions?.length).toBeGreaterThan(0);
  expect(status.conditions?.map((c) => c.observedGeneration)).toEqual(status.conditions?.map(() => GENERATION));
}

const going = {kind: 'Present' as const, pod: pod({phase: 'Running'}, {metadata: {deletionTimestamp: ago(1)}})};
const told: SessionStatus['timeline'] = [
  {time: ago(100), event: 'Started'},
  {time: ago(2), event: 'Restarted'},
];
const ends: SessionStatus = {pod: undefined, finishedAt: ago(60), conditions: old('Complete', 'Ready')};
const PHASES: Record<NonNullable<SessionStatus['phase']>, SessionSeen[]> = {
  Pending: [seen({choice: {kind: 'Blocked', reason: 'AgentNotFound', message: 'none'}})],
  Starting: [
    seenWithPod({phase: 'Starting', runner: undefined}),
    seenWithPod({phase: 'Starting', timeline: told, conditions: old('Ready')}, {pod: going}),
  ],
  Idle: [seenWithPod({conditions: old('Ready')}), seenWithPod({conditions: old('Ready')}, {node: 'Unreachable'})],
  Running: [
    seenWithPod(
      {phase: 'Running', activeTurn: {name: 'first', uid: 'uid-first', sequence: 1}, conditions: old('Ready')},
      {turns: [turn('first', {phase: 'Running', sessionUID: SESSION_UID, podUID: POD_UID, sequence: 1})]},
    ),
  ],
  NeedsInput: [seenWithPod({phase: 'NeedsInput', conditions: old('Ready')})],
  Sleeping: [seen({session: session({phase: 'Sleeping', idleSince: ago(60), conditions: old('Ready')})})],
  Closing: [seenWithPod({phase: 'Closing', stoppedReason: 'Closed', conditions: old('Ready')})],
  Closed: [
    seen({session: session({phase: 'Closed', ...ends})}),
    seenWithPod({phase: 'Closed', conditions: old('Ready')}),
  ],
  Archived: [seen({session: session({phase: 'Archived', ...ends}, {desired: 'Archived'})})],
  Failed: [
    seen({session: session({phase: 'Failed', ...ends})}),
    seenWithPod({phase: 'Failed', conditions: old('Ready')}),
  ],
};

describe('every edit of a spec is observed, by the status and by each condition', () => {
  it('there is a case for each phase of a Session', () => {
    const phases = Session.status.shape.phase.unwrap().options;
    expect(Object.keys(PHASES).sort()).toEqual([...phases].sort());
  });

  it.each(Object.entries(PHASES).flatMap(([phase, all]) => all.map((s, n) => [phase, n, s] as const)))(
    'Session %s (%i)',
    (phase, _n, state) => {
      expect(state.session.status?.phase ?? 'Pending').toBe(phase);
      expectObserved(planSession({...state, session: edited(state.session)}).status);
    },
  );

  it.each(Turn.status.shape.phase.unwrap().options)('Turn %s', (phase) => {
    const status = {phase, sessionUID: SESSION_UID, podUID: POD_UID, sequence: 1, observedGeneration: 1};
    const one = edited(turn('first', {...status, conditions: old('Ready')}));
    if (TURN_TERMINAL.some((p) => p === phase)) return expectObserved(observedEdit(one) ?? {});
    const admitted = [{name: 'first', uid: 'uid-first', sequence: 1}];
    const active = phase === 'Running' ? {activeTurn: admitted[0]} : {};
    // Queued while a pod starts, running in one that is up.
    const starts = phase === 'Queued' ? {phase: 'Starting' as const, runner: undefined} : {phase: 'Running' as const};
    const plan = planSession(seenWithPod({...starts, admitted, ...active}, {turns: [one]}));
    expect(plan.turnWrites).toHaveLength(1);
    expectObserved(plan.turnWrites[0]?.status ?? {});
    expect(plan.turnWrites[0]?.status.phase).toBe(phase);
    const again = {...one, status: plan.turnWrites[0]?.status ?? {}};
    expect(planSession(seenWithPod({...starts, admitted, ...active}, {turns: [again]})).turnWrites).toEqual([]);
  });

  it('Turn without a Session', () => {
    const one = edited(turn('first'));
    expectObserved({observedGeneration: GENERATION, conditions: sessionMissingConditions(one, NOW)});
  });

  it.each(['Open', ...QUESTION_TERMINAL] as const)('Question %s', (phase) => {
    const one = edited(question('q', {status: {phase, observedGeneration: 1, conditions: old('Ready')}}));
    expectObserved(planQuestion({question: one, session: session({}), turn: undefined, now: NOW}).status);
  });

  it.each([
    ['published', {}],
    ['a draft', {draft: true}],
    ['invalid', {groups: ['nonsense']}],
  ])('Agent %s', (_state, spec) => {
    const agent: AgentObject = {
      apiVersion: 'carrel.dev/v1alpha1',
      kind: 'Agent',
      metadata: {name: 'scribe', namespace: 'team', uid: 'a', resourceVersion: '1', creationTimestamp: ago(9)},
      spec: {...revisionData().spec, ...spec},
      status: {publishedRevision: 'x', observedGeneration: 1, conditions: old('Published', 'Ready', 'Stalled')},
    };
    const range = {first: 1, last: 2};
    expectObserved(planAgent({agent: edited(agent), stored: undefined, range, now: NOW}).status);
  });
});
