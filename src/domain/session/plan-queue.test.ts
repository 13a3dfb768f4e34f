import {describe, expect, it} from 'vitest';
import {
  entry,
  gone,
  NO_FOLDER,
  queued,
  report,
  running,
  seeding,
  seedRefused,
  unready,
  works,
} from '../../../test/support/plan-cases.ts';
import {
  ago,
  NOW,
  POD_UID,
  READY,
  SESSION_UID,
  seenWithPod,
  session,
  turn,
} from '../../../test/support/session-objects.ts';
import type {SessionStatus} from '../../api/v1alpha1/index.ts';
import {planSession} from './plan.ts';

const RESTART = `kubectl patch sessions.carrel.dev one -n team --type=merge -p '{"spec":{"restart":1}}'`;

describe('the queue of a session', () => {
  it('hands the next turn over only when the runner is ready, with the pod that may finish it', () => {
    const waiting = seenWithPod({admitted: [entry('first', 1)], lastSequence: 1}, {turns: [turn('first', queued(1))]});
    const plan = planSession(waiting);
    expect(plan.status).toMatchObject({phase: 'Running', activeTurn: entry('first', 1), queued: 0});
    expect(plan.turnWrites).toHaveLength(1);
    expect(plan.turnWrites[0]?.status).toMatchObject({
      phase: 'Running',
      podUID: POD_UID,
      sequence: 1,
      startedAt: ago(0),
    });
    const notYet = planSession({
      ...waiting,
      session: session({...READY, ...unready, admitted: [entry('first', 1)], lastSequence: 1}),
    });
    expect(notYet.status.activeTurn).toBeUndefined();
    expect(notYet.turnWrites).toEqual([]);
  });

  it('Z-099 a turn that comes to an idle session runs at once, one that comes to a running one waits', () => {
    const idle = planSession(seenWithPod({}, {turns: [turn('first')]}));
    expect(idle.status).toMatchObject({phase: 'Running', activeTurn: entry('first', 1), lastSequence: 1});
    expect(idle.turnWrites.map((w) => w.status.phase)).toEqual(['Running']);
    const busy = planSession(seenWithPod(works, {turns: [turn('first', running), turn('second')]}));
    expect(busy.status).toMatchObject({activeTurn: entry('first', 1), queued: 1});
    expect(busy.turnWrites.map((w) => [w.turn.metadata.name, w.status.phase])).toEqual([['second', 'Queued']]);
  });

  it('Z-100 an interrupting turn names the running one, once, and goes to the front', () => {
    const turns = [turn('first', running), turn('second', queued(2)), turn('now', undefined, {delivery: 'Interrupt'})];
    const status = {...works, admitted: [entry('first', 1), entry('second', 2)], lastSequence: 2};
    const plan = planSession(seenWithPod(status, {turns}));
    expect(plan.turnWrites.map((w) => w.status.interrupts)).toEqual([{turnUID: 'uid-first'}]);
    const after = {...status, admitted: [...status.admitted, entry('now', 3)], lastSequence: 3};
    const over = [
      turn('first', {...running, phase: 'Interrupted'}),
      turn('second', queued(2)),
      turn('now', queued(3), {delivery: 'Interrupt'}),
    ];
    expect(planSession(seenWithPod(after, {turns: over})).status.activeTurn).toEqual(entry('now', 3));
  });

  it('a turn whose pod is gone ends as unknown and is never handed over again', () => {
    const plan = planSession(seenWithPod(works, {pod: gone, turns: [turn('first', running)]}));
    const end = plan.steps.flatMap((s) => (s.do === 'EndTurn' ? [s.end] : []));
    expect(end).toMatchObject([{phase: 'Failed', code: 'outcome_unknown'}]);
    // Also when the list in the status was lost: Running once is enough.
    const orphan = planSession(seenWithPod({}, {turns: [turn('first', {...running, podUID: 'an earlier pod'})]}));
    expect(orphan.steps).toMatchObject([{do: 'EndTurn', end: {code: 'outcome_unknown'}}]);
    expect(orphan.status.activeTurn).toBeUndefined();
  });

  it('a turn that was chosen but not handed over goes back into the queue when the pod is gone', () => {
    const plan = planSession(seenWithPod(works, {pod: gone, turns: [turn('first', queued(1))]}));
    expect(plan.steps).toEqual([]);
    expect(plan.status).toMatchObject({activeTurn: undefined, admitted: [entry('first', 1)], queued: 1});
  });

  it.each([
    ['Withdraw', undefined, /came too late.*Next: set spec\.stop to Interrupt/],
    [
      'Interrupt',
      'the agent works on it; stop: Withdraw came too late',
      /^the agent works on it, or waits for an answer: kubectl describe/,
    ],
  ] as const)('a running turn with stop: %s says how it stands, in one write', (stop, before, told) => {
    const edited = turn(
      'first',
      {
        ...running,
        conditions: [
          {type: 'Ready', status: 'False', reason: 'Running', message: before ?? '', lastTransitionTime: ago(9)},
        ],
      },
      {stop},
    );
    const first = {...edited, metadata: {...edited.metadata, generation: 2}};
    const [write, ...more] = planSession(seenWithPod(works, {turns: [first]})).turnWrites;
    expect(more).toEqual([]);
    expect(write?.status).toMatchObject({phase: 'Running', observedGeneration: 2});
    expect(write?.status.conditions).toMatchObject([
      {type: 'Ready', status: 'False', reason: 'Running', message: expect.stringMatching(told)},
      {type: 'Reconciling', status: 'True'},
    ]);
    const again = {...first, status: write?.status ?? running};
    expect(planSession(seenWithPod(works, {turns: [again]})).turnWrites).toEqual([]);
  });

  it('a deleted running turn leaves the session free', () => {
    const plan = planSession(seenWithPod(works, {turns: []}));
    expect(plan.status).toMatchObject({phase: 'Idle', activeTurn: undefined, admitted: undefined});
  });

  it('a failed session keeps what was queued and refuses what comes later', () => {
    const status: SessionStatus = {
      phase: 'Failed',
      pod: undefined,
      admitted: [entry('first', 1)],
      lastSequence: 1,
      finishedAt: ago(1),
    };
    const plan = planSession(
      seenWithPod(status, {pod: {kind: 'None'}, turns: [turn('first', queued(1)), turn('late')]}),
    );
    expect(plan.status.admitted).toEqual([entry('first', 1)]);
    expect(plan.steps).toMatchObject([
      {do: 'EndTurn', turn: {metadata: {name: 'late'}}, end: {phase: 'Cancelled', code: 'session_closed'}},
    ]);
  });

  it('a queued turn says that its session failed, in one write, and no more when the session goes on', () => {
    const told = report('Failed', {reason: 'CommandNotFound', message: 'no /bin/agent'});
    const status = {...unready, ...told, admitted: [entry('first', 1)], lastSequence: 1};
    const [write, ...more] = planSession(seenWithPod(status, {turns: [turn('first', queued(1))]})).turnWrites;
    expect(more).toEqual([]);
    expect(write?.status.phase).toBe('Queued');
    expect(write?.status.conditions).toMatchObject([
      {type: 'Ready', status: 'False', reason: 'SessionFailed'},
      {type: 'Stalled', status: 'True', message: expect.stringMatching(/Next: mend that, then raise spec\.restart/)},
    ]);
    const held = turn('first', write?.status);
    const failed: SessionStatus = {...status, phase: 'Failed', pod: undefined, finishedAt: ago(1)};
    const none = {pod: {kind: 'None'} as const, turns: [held]};
    expect(planSession(seenWithPod(failed, none)).turnWrites).toEqual([]);
    const [cleared] = planSession(seenWithPod(failed, none, {restart: 1})).turnWrites;
    expect(cleared?.status.conditions).toMatchObject([
      {type: 'Ready', reason: 'Queued'},
      {type: 'Reconciling', reason: 'Queued'},
    ]);
  });

  it('the prompt of a session whose first start fails waits for restart', () => {
    const status: SessionStatus = {
      phase: 'Failed',
      pod: undefined,
      initialTurn: {name: 'first', uid: 'uid-first'},
      finishedAt: ago(1),
    };
    const plan = planSession(seenWithPod(status, {pod: {kind: 'None'}, turns: [turn('first')]}, {prompt: 'h'}));
    expect(plan.steps).toEqual([]);
    expect(plan.status.admitted).toEqual([entry('first', 1)]);
  });

  it('turns made with plain kubectl are adopted, those of ours are not', () => {
    const owned = turn('owned', queued(2));
    const plan = planSession(
      seenWithPod(
        {...works, admitted: [entry('first', 1), entry('owned', 2)], lastSequence: 2},
        {
          turns: [
            turn('first', running),
            {
              ...owned,
              metadata: {
                ...owned.metadata,
                ownerReferences: [{apiVersion: 'carrel.dev/v1alpha1', kind: 'Session', name: 'one', uid: SESSION_UID}],
              },
            },
          ],
        },
      ),
    );
    expect(plan.adopt.map((t) => t.metadata.name)).toEqual(['first']);
  });

  it('a turn that is refused goes with its Session all the same; one of an earlier Session does not', () => {
    const turns = [turn('late'), turn('old', {sessionUID: 'earlier'}), turn('done', {...running, phase: 'Failed'})];
    const plan = planSession(seenWithPod({phase: 'Failed', finishedAt: ago(1)}, {pod: {kind: 'None'}, turns}));
    expect(plan.steps).toMatchObject([
      {do: 'EndTurn', turn: {metadata: {name: 'late'}}, end: {code: 'session_closed'}},
      {do: 'EndTurn', turn: {metadata: {name: 'old'}}, end: {code: 'session_replaced'}},
    ]);
    expect(plan.adopt.map((t) => t.metadata.name)).toEqual(['late', 'done']);
  });

  it.each([
    ['as an image volume', seedRefused(NO_FOLDER)],
    ['in the image itself', seeding('InitContainer', {terminated: {exitCode: 4}})],
  ])('names the workspace image that has no folder to seed from, and what to do: %s', (_how, seeing) => {
    expect(planSession(seeing).status.conditions?.find((c) => c.type === 'Failed')?.message).toBe(
      `workspace.image of the Agent, registry.example/files@sha256:${'f'.repeat(64)}, has no folder /workspace to seed from: build it with the files in that folder, or take it out of the Agent. Next: mend the cause, then raise spec.restart: ${RESTART}`,
    );
  });

  it('says in the condition what to do about a failure', () => {
    const told = report('Failed', {reason: 'CommandNotFound', message: 'no /bin/agent'});
    const plan = planSession(seenWithPod({...unready, ...told}));
    expect(plan.status.conditions?.find((c) => c.type === 'Failed')?.message).toBe(
      `no /bin/agent. Next: correct spec.command of the Agent, then raise spec.restart: ${RESTART}`,
    );
  });

  it('conditions keep the time of their last change', () => {
    const lastTransitionTime = ago(500);
    const conditions = [{type: 'Ready', status: 'True' as const, reason: 'Running', message: 'x', lastTransitionTime}];
    const plan = planSession(seenWithPod({conditions}));
    expect(plan.status.conditions).toMatchObject([{type: 'Ready', reason: 'Idle', lastTransitionTime}]);
    expect(NOW.getTime()).toBeGreaterThan(Date.parse(lastTransitionTime));
  });
});
