import {describe, expect, it} from 'vitest';
import {AT, nameOf, POD_UID, question, session, turn} from '../../../test/support/runner-objects.ts';
import {type DesiredSeen, desiredView} from './desired.ts';

const view = (changes: Partial<DesiredSeen> = {}) =>
  desiredView({
    session: session(),
    podUid: POD_UID,
    turns: [turn()],
    questions: [],
    questionsFresh: true,
    delivered: undefined,
    ...changes,
  });

const previous = (phase: 'Interrupted' | 'Failed' | 'Completed' | 'Cancelled', code?: string) =>
  turn({
    name: 't0',
    uid: 'turn-uid-0',
    status: {phase, sequence: 1, ...(code === undefined ? {} : {error: {code, message: 'x'}})},
  });

describe('the turn of the desired document', () => {
  const rows = [
    {state: 'running in this pod', turns: [turn()], shown: true},
    {state: 'still queued', turns: [turn({status: {phase: 'Queued'}})], shown: false},
    {state: 'handed to another pod', turns: [turn({status: {podUID: 'other'}})], shown: false},
    {state: 'over', turns: [turn({status: {phase: 'Completed'}})], shown: false},
    {state: 'of an older session of that name', turns: [turn({status: {sessionUID: 'older'}})], shown: false},
    {state: 'not the active one', turns: [turn({uid: 'turn-uid-9'})], shown: false},
  ];
  for (const row of rows) {
    it(`${row.shown ? 'is shown' : 'is left out'} when it is ${row.state}`, () => {
      expect(view({turns: row.turns}).turn !== undefined).toBe(row.shown);
    });
  }

  it('brings its own goal before the goal of the session', () => {
    const of = (goal?: string) =>
      view({session: session({}, {goal: 'whole'}), turns: [turn({spec: goal === undefined ? {} : {goal}})]}).document
        .session.goal;
    expect([of(), of('this')]).toEqual(['whole', 'this']);
  });
});

describe('the stop of the desired document', () => {
  const interrupting = turn({
    name: 't2',
    uid: 'turn-uid-2',
    spec: {author: {kind: 'Human', name: 'alice'}},
    status: {phase: 'Queued', sequence: 3, interrupts: {turnUID: 'turn-uid-1'}},
  });
  const deleted = {...turn(), metadata: {...turn().metadata, deletionTimestamp: '2026-01-01T00:00:00Z'}};
  const leaving = {...session(), metadata: {...session().metadata, deletionTimestamp: '2026-01-01T00:00:00Z'}};
  const rows: {state: string; seen: Partial<DesiredSeen>; stop: object | undefined}[] = [
    {state: 'nothing asks for it', seen: {}, stop: undefined},
    {state: 'stop Interrupt', seen: {turns: [turn({spec: {stop: 'Interrupt'}})]}, stop: {turnUid: 'turn-uid-1'}},
    {state: 'stop Withdraw, too late', seen: {turns: [turn({spec: {stop: 'Withdraw'}})]}, stop: undefined},
    {
      state: 'another turn interrupts it',
      seen: {turns: [turn(), interrupting]},
      stop: {turnUid: 'turn-uid-1', by: 'alice'},
    },
    {state: 'session cancelled', seen: {session: session({}, {desired: 'Cancelled'})}, stop: {turnUid: 'turn-uid-1'}},
    {state: 'session closing after the turn', seen: {session: session({}, {desired: 'Closed'})}, stop: undefined},
    {state: 'session being deleted', seen: {session: leaving}, stop: {turnUid: 'turn-uid-1'}},
    {state: 'turn being deleted', seen: {turns: [deleted]}, stop: {turnUid: 'turn-uid-1'}},
    {state: 'turn gone', seen: {turns: []}, stop: {turnUid: 'turn-uid-1'}},
    {
      state: 'delivered turn gone, session moved on',
      seen: {session: session({activeTurn: undefined}), turns: [], delivered: 'turn-uid-1'},
      stop: {turnUid: 'turn-uid-1'},
    },
    {
      state: 'delivered turn over',
      seen: {turns: [turn({status: {phase: 'Completed'}})], delivered: 'turn-uid-1'},
      stop: undefined,
    },
  ];
  for (const row of rows) it(row.state, () => expect(view(row.seen).document.stop).toEqual(row.stop));
});

describe('the rest of the desired document', () => {
  it('carries answers of the running turn until they are acknowledged', () => {
    const answered = question({spec: {answer: {option: 'yes'}}, status: {phase: 'Answered'}});
    const of = (requestId: string, more: {turn?: string; status?: object}) =>
      question({
        spec: {requestId, turn: more.turn ?? 't1'},
        ...(more.status === undefined ? {} : {status: more.status}),
      });
    const questions = [
      answered,
      of('r2', {}),
      of('r3', {status: {phase: 'Expired'}}),
      of('r4', {status: {phase: 'Withdrawn', deliveredAt: '2026-01-01T00:00:00Z'}}),
      of('r5', {turn: 't0', status: {phase: 'Answered'}}),
      question({name: 'ask', spec: {kind: 'Ask', requestId: undefined}, status: {phase: 'Answered'}}),
      {...answered, metadata: {...answered.metadata, ownerReferences: []}},
    ];
    const answers = view({questions}).document.answers;
    expect(new Map(answers.map((a) => [a.question, [a.outcome, a.option]]))).toEqual(
      new Map([
        [nameOf('r1'), ['Answered', 'yes']],
        [nameOf('r3'), ['Expired', undefined]],
      ]),
    );
  });

  it('takes no answer from a copy of a question: its name is not the one that the gateway gave', () => {
    const copy = question({name: 'copy', spec: {answer: {option: 'yes'}}, status: {phase: 'Answered'}});
    expect(view({questions: [question(), copy]}).document.answers).toEqual([]);
  });

  describe('names the requests whose questions wait', () => {
    const waits = question();
    const copy = {...question({name: 'copy', spec: {requestId: 'r9'}})};
    const rows: {state: string; seen: Partial<DesiredSeen>; named: string[] | undefined}[] = [
      {state: 'none: nothing was asked, or all was deleted', seen: {}, named: []},
      {state: 'not looked at by the controller yet', seen: {questions: [waits]}, named: ['r1']},
      {state: 'open', seen: {questions: [question({status: {phase: 'Open'}})]}, named: ['r1']},
      {
        state: 'open with an answer that does not fit, which is not among the answers',
        seen: {
          questions: [question({spec: {kind: 'Elicitation', answer: {content: '{a}'}}, status: {phase: 'Open'}})],
        },
        named: ['r1'],
      },
      {
        state: 'answered: it is among the answers',
        seen: {questions: [question({status: {phase: 'Answered'}})]},
        named: [],
      },
      {state: 'open and delivered: taken back', seen: {questions: [question({status: {deliveredAt: AT}})]}, named: []},
      {state: 'of another turn', seen: {questions: [question({spec: {turn: 't0'}})]}, named: []},
      {state: 'a copy under another name', seen: {questions: [copy]}, named: []},
      {state: 'asked by a tool', seen: {questions: [question({name: 'a', spec: {requestId: undefined}})]}, named: []},
      {state: 'unknown: the cache may be old', seen: {questions: [waits], questionsFresh: false}, named: undefined},
      {state: 'no turn runs', seen: {questions: [waits], turns: []}, named: undefined},
    ];
    for (const row of rows) it(row.state, () => expect(view(row.seen).document.questions).toEqual(row.named));

    it('and hands over nothing while the phase is Open', () => {
      const misfit = question({spec: {kind: 'Elicitation', answer: {content: '{a}'}}, status: {phase: 'Open'}});
      expect(view({questions: [misfit]}).document.answers).toEqual([]);
    });
  });

  it('resumes the conversation that was reported last', () => {
    const runner = {podUID: 'older', epoch: 1, state: 'Ready', agentSessionId: 'conv-1'} as const;
    expect(view({session: session({runner})}).document.resume).toEqual({agentSessionId: 'conv-1'});
  });

  const endings = [
    {state: 'Running', seen: session(), desired: 'Run'},
    {state: 'Sleeping wanted', seen: session({}, {desired: 'Sleeping'}), desired: 'Run'},
    {state: 'Cancelled wanted', seen: session({}, {desired: 'Cancelled'}), desired: 'Stop'},
    {state: 'Closing', seen: session({phase: 'Closing'}), desired: 'Stop'},
  ];
  for (const row of endings) {
    it(`says ${row.desired} when ${row.state}`, () =>
      expect(view({session: row.seen}).document.desired).toBe(row.desired));
  }

  it('has a version that rises with any object it is made of', () => {
    expect(view().version).toBe(101);
    expect(view({questions: [question()]}).version).toBe(102);
  });
});

describe('what is said before the prompt', () => {
  const rows = [
    {state: 'first turn', turns: [], said: []},
    {state: 'last one completed', turns: [previous('Completed')], said: []},
    {state: 'last one interrupted', turns: [previous('Interrupted')], said: [expect.stringContaining('interrupted')]},
    {
      state: 'outcome unknown',
      turns: [previous('Failed', 'outcome_unknown')],
      said: [expect.stringContaining('nobody knows')],
    },
    {state: 'failed for a known cause', turns: [previous('Failed', 'model_error')], said: []},
    {state: 'never ran', turns: [previous('Cancelled')], said: []},
  ];
  for (const row of rows)
    it(row.state, () => expect(view({turns: [turn(), ...row.turns]}).turn?.preface).toEqual(row.said));

  it('quotes an answer that came after its turn had ended, by its label', () => {
    const late = question({
      spec: {turn: 't0', text: 'Delete?', options: [{id: 'y', label: 'Yes, do'}], answer: {option: 'y'}},
      status: {phase: 'Answered'},
    });
    const said = view({turns: [turn(), previous('Completed')], questions: [late]}).turn?.preface;
    expect(said).toEqual(['Your question "Delete?" was answered after that turn had ended: Yes, do']);
  });
});
