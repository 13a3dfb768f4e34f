import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {ago, NOW, SESSION_UID, session, turn} from '../../../test/support/session-objects.ts';
import {initialTurn} from '../session/initial-turn.ts';
import {type AdmissionSeen, admit} from './admission.ts';
import {endConditions, turnConditions} from './conditions.ts';
import {beyondHistory} from './history.ts';
import {inputBytes, inputParts, withoutBody} from './input.ts';
import {inOrder} from './order.ts';
import {observedEdit} from './status.ts';

const seen = (over: Partial<AdmissionSeen>): AdmissionSeen => ({
  sessionUid: SESSION_UID,
  turns: [],
  admitted: [],
  activeUid: undefined,
  lastSequence: 4,
  initialTurnUid: undefined,
  closed: undefined,
  drop: false,
  limit: 2,
  ...over,
});
const at = (name: string, seconds: number, more: Partial<Parameters<typeof turn>[2]> = {}) => {
  const made = turn(name, undefined, more);
  return {...made, metadata: {...made.metadata, creationTimestamp: ago(seconds)}};
};
const entry = (name: string, sequence: number) => ({name, uid: `uid-${name}`, sequence});

const ownedBy = (uid: string) => {
  const made = turn('x');
  const owner = {apiVersion: 'carrel.dev/v1alpha1', kind: 'Session', name: 'one', uid};
  return {...made, metadata: {...made.metadata, ownerReferences: [owner]}};
};

describe('admission', () => {
  it('numbers turns in the order in which they were made; numbers are never used again', () => {
    const {admitted, lastSequence} = admit(seen({turns: [at('b', 10), at('c', 10), at('a', 20)], limit: 9}));
    expect(admitted).toEqual([entry('a', 5), entry('b', 6), entry('c', 7)]);
    expect(lastSequence).toBe(7);
  });

  it('of turns made within one second the resourceVersion decides, as a number, and not the name', () => {
    const versions = {zebra: '998', mole: '1000', ant: '1001'};
    const turns = Object.entries(versions).map(([name, resourceVersion]) => {
      const made = at(name, 10);
      return {...made, metadata: {...made.metadata, resourceVersion}};
    });
    const {admitted} = admit(seen({turns: turns.reverse(), limit: 9}));
    expect(admitted.map((e) => e.name)).toEqual(['zebra', 'mole', 'ant']);
  });

  it('the initial turn is the first, whatever the clocks say', () => {
    const turns = [at('early', 99), at('first', 10)];
    expect(admit(seen({turns, initialTurnUid: 'uid-first'})).admitted[0]?.name).toBe('first');
  });

  it.each([
    ['too many wait', {turns: [at('x', 1)], admitted: [entry('a', 1), entry('b', 2)]}, 'queue_full'],
    ['the session is closed', {turns: [at('x', 1)], closed: 'closed', drop: true}, 'session_closed'],
    ['it was taken back at once', {turns: [at('x', 1, {stop: 'Withdraw'})]}, 'withdrawn'],
    [
      'it is too large in bytes',
      {turns: [at('x', 1, {input: Array(4).fill({text: '\u6f22'.repeat(16_000)})})]},
      'input_too_large',
    ],
    ['it was made for another session', {turns: [turn('x', {sessionUID: 'other'})]}, 'session_replaced'],
    ['an earlier session owns it', {turns: [ownedBy('other')]}, 'session_replaced'],
  ] as const)('refuses a turn when %s', (_when, over, code) => {
    const turns = [
      ...over.turns,
      ...('admitted' in over ? over.admitted.map((e) => turn(e.name, {phase: 'Queued'})) : []),
    ];
    const {refused} = admit(seen({...over, turns}));
    expect(refused.map((r) => [r.turn.metadata.name, r.code])).toEqual([['x', code]]);
  });

  it('a turn that ran once is never taken again', () => {
    const turns = [turn('x', {phase: 'Running'}), turn('y', {phase: 'Failed'})];
    expect(admit(seen({turns}))).toMatchObject({admitted: [], refused: []});
  });

  it('whatever happens, a number belongs to one turn and rises', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({min: 0, max: 50}), {maxLength: 40}),
        fc.integer({min: 1, max: 32}),
        (ids, limit) => {
          const turns = ids.map((id) => at(`t${id}`, id));
          const {admitted, refused, lastSequence} = admit(seen({turns, limit}));
          expect(admitted.length + refused.length).toBe(ids.length);
          expect(new Set(admitted.map((e) => e.sequence)).size).toBe(admitted.length);
          expect(lastSequence).toBe(4 + admitted.length);
          expect(admitted.length).toBeLessThanOrEqual(limit);
        },
      ),
    );
  });
});

describe('order', () => {
  it('Z-112 promoted first, newest promotion first, the rest as admitted; an interrupting turn counts from when it was made', () => {
    const list = [
      {turn: at('a', 100), sequence: 1},
      {turn: at('b', 90, {promotedAt: ago(50)}), sequence: 2},
      {turn: at('c', 80), sequence: 3},
      {turn: at('d', 70, {promotedAt: ago(40)}), sequence: 4},
      {turn: at('e', 30, {delivery: 'Interrupt'}), sequence: 5},
    ];
    expect(inOrder(list).map((q) => q.turn.metadata.name)).toEqual(['e', 'd', 'b', 'a', 'c']);
  });
});

describe('history', () => {
  const done = (name: string, seconds: number, archived: boolean) =>
    turn(name, {phase: 'Completed', finishedAt: ago(seconds), archived});
  it('the oldest ended turns go first, and none whose end is not archived', () => {
    const turns = [
      done('a', 40, true),
      done('b', 30, false),
      done('c', 20, true),
      done('d', 10, true),
      turn('e', {phase: 'Running'}),
    ];
    expect(beyondHistory(turns, 1).map((t) => t.metadata.name)).toEqual(['a', 'c']);
    expect(beyondHistory(turns, 4)).toEqual([]);
  });
});

describe('input', () => {
  it('parts hold the whole prompt, none is longer than the schema allows, and no character is cut', () => {
    fc.assert(
      fc.property(fc.string({unit: 'grapheme', maxLength: 60}), fc.integer({min: 0, max: 800}), (text, times) => {
        const prompt = text.repeat(times).slice(0, 65_536);
        const parts = inputParts(prompt);
        expect(parts.map((p) => p.text).join('')).toBe(prompt);
        for (const {text: part = ''} of parts) {
          expect(part.length).toBeLessThanOrEqual(16_384);
          expect(/[\uD800-\uDBFF]$/.test(part) && !/[\uD800-\uDBFF]$/.test(prompt)).toBe(false);
        }
      }),
    );
  });

  it('a cached turn has no texts and still knows how long they were', () => {
    const whole = turn('x', undefined, {input: [{text: 'caf\u00e9'}, {text: 'x'}]});
    const pruned = withoutBody(whole);
    expect(pruned.spec.input).toEqual([{text: ''}, {text: ''}]);
    expect([inputBytes(whole), inputBytes(pruned), inputBytes(withoutBody(pruned))]).toEqual([6, 6, 6]);
  });
});

describe('the initial turn', () => {
  it.each([
    ['its owner', {owner: 'alice'}, {kind: 'Human', name: 'alice'}],
    ['a service account', {owner: 'system:serviceaccount:a:b'}, {kind: 'System', name: 'system:serviceaccount:a:b'}],
    [
      'its owner, though it belongs to another session',
      {owner: 'alice', requester: {session: 'boss', uid: 'u'}},
      {kind: 'Human', name: 'alice'},
    ],
    ['nobody that was stamped', {}, {kind: 'System', name: 'unknown'}],
  ])('has as author %s', (_who, spec, author) => {
    expect(initialTurn(session(undefined, {prompt: 'x', ...spec})).spec.author).toEqual(author);
  });

  it('has as author the session that started it by its own token, wherever the new one belongs', () => {
    const made = session(undefined, {prompt: 'x', owner: 'alice', requester: {session: 'helper', uid: 'u'}});
    const annotations = {'carrel.dev/started-by': 'boss'};
    const {author} = initialTurn({...made, metadata: {...made.metadata, annotations}}).spec;
    expect(author).toEqual({kind: 'Agent', name: 'boss', session: 'boss'});
  });

  it('has a name that fits, and means one session only', () => {
    const long = session(undefined, {prompt: 'x'});
    const named = {...long, metadata: {...long.metadata, name: 'a'.repeat(48)}};
    expect(initialTurn(named).metadata.name).toBe(`${'a'.repeat(33)}-5e551011-first`);
  });
});

describe('conditions', () => {
  it.each([
    [
      'Queued',
      [
        ['Ready', 'False'],
        ['Reconciling', 'True'],
      ],
    ],
    [
      'Running',
      [
        ['Ready', 'False'],
        ['Reconciling', 'True'],
      ],
    ],
    [
      'Completed',
      [
        ['Complete', 'True'],
        ['Ready', 'True'],
      ],
    ],
    [
      'Failed',
      [
        ['Failed', 'True'],
        ['Ready', 'True'],
      ],
    ],
    [
      'Interrupted',
      [
        ['Failed', 'True'],
        ['Ready', 'True'],
      ],
    ],
    [
      'Cancelled',
      [
        ['Failed', 'True'],
        ['Ready', 'True'],
      ],
    ],
  ] as const)('of a turn that is %s', (phase, expected) => {
    const list = turnConditions(turn('x'), {phase, now: NOW});
    expect(list.map((c) => [c.type, c.status])).toEqual(expected);
    if (phase === 'Queued' || phase === 'Running') expect(endConditions({phase})).toEqual([]);
    else expect(endConditions({phase, finishedAt: ago(0)}).map((c) => [c.type, c.status])).toEqual(expected);
  });
});

describe('a turn that is edited after its end', () => {
  const ended = turn('one', {
    phase: 'Completed',
    observedGeneration: 1,
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Completed',
        message: '',
        lastTransitionTime: ago(9),
        observedGeneration: 1,
      },
    ],
  });

  it('is observed, so that `kubectl wait` goes on believing the end; nothing else changes', () => {
    const late = {...ended, metadata: {...ended.metadata, generation: 2}};
    expect(observedEdit(late)).toMatchObject({
      phase: 'Completed',
      observedGeneration: 2,
      conditions: [{type: 'Ready', lastTransitionTime: ago(9), observedGeneration: 2}],
    });
  });

  it('one that is not edited costs no write', () => {
    expect(observedEdit(ended)).toBeUndefined();
  });
});
