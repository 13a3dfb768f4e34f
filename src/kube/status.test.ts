import {expect, test} from 'vitest';
import {clearCondition, isTrue, setCondition} from '../api/condition-list.ts';
import {mergeDiff} from './status.ts';

test.each([
  ['nothing differs', {a: 1, b: {c: [1]}}, {b: {c: [1]}, a: 1}, undefined],
  ['undefined is the same as missing', {a: 1}, {a: 1, b: undefined}, undefined],
  ['undefined inside a list is the same as missing', {a: [{x: 1}]}, {a: [{x: 1, y: undefined}]}, undefined],
  ['a field is removed', {a: 1, b: 2}, {a: 1}, {b: null}],
  ['an inner field is removed', {a: {b: 1, c: 2}}, {a: {b: 1}}, {a: {c: null}}],
  ['lists are replaced whole', {a: [1, 2]}, {a: [1, 3]}, {a: [1, 3]}],
  ['there was no status', undefined, {phase: 'Pending'}, {phase: 'Pending'}],
  ['an object becomes a text', {a: {b: 1}}, {a: 'x'}, {a: 'x'}],
  ['a key named like a prototype member is removed', {constructor: 'x'}, {}, {constructor: null}],
  ['a key is named like a prototype member', {}, {constructor: 'x'}, {constructor: 'x'}],
])('the merge patch when %s', (_state, from, to, patch) => {
  expect(mergeDiff(from, to)).toEqual(patch);
});

test('a condition keeps its transition time while its status stays, and the list is sorted by type', () => {
  const t1 = new Date('2026-01-01T00:00:01.500Z');
  const t2 = new Date('2026-01-01T00:00:09Z');
  const first = setCondition(undefined, {type: 'Ready', status: 'False', reason: 'PodPending', message: 'waiting'}, t1);
  const second = setCondition(first, {type: 'Published', status: 'True', reason: 'Ok', message: ''}, t2);
  const third = setCondition(second, {type: 'Ready', status: 'False', reason: 'ImagePull', message: 'slow'}, t2);
  expect(third.map((c) => [c.type, c.reason, c.lastTransitionTime])).toEqual([
    ['Published', 'Ok', '2026-01-01T00:00:09Z'],
    ['Ready', 'ImagePull', '2026-01-01T00:00:01Z'],
  ]);
  const fourth = setCondition(third, {type: 'Ready', status: 'True', reason: 'Idle', message: ''}, t2);
  expect(fourth.at(-1)?.lastTransitionTime).toBe('2026-01-01T00:00:09Z');
  expect(isTrue(fourth, 'Ready')).toBe(true);
  expect(clearCondition(fourth, 'Ready')).toHaveLength(1);
});
