import {describe, expect, test} from 'vitest';
import {desiredDocument} from '../../../test/support/desired-document.ts';
import type {Desired} from '../../api/wire/runner.ts';
import {ABSENT_FOR, type Doing, nextStep} from './next-step.ts';

const turn = {name: 't', uid: 'A', sequence: 1, input: [{text: 'x'}], preface: []};
const desired = desiredDocument();
const idle: Doing = {taken: new Set(), ready: true, failed: false};
const busy: Doing = {...idle, taken: new Set(['A']), current: {uid: 'A', interrupting: false}};

describe('what a runner does next', () => {
  test.each<[string, Partial<Desired>, Doing, object]>([
    ['nothing is wanted', {}, idle, {do: 'nothing'}],
    ['a turn, and the agent is ready', {turn}, idle, {do: 'take', turn}],
    ['a turn, and the agent is not ready yet', {turn}, {...idle, ready: false}, {do: 'nothing'}],
    [
      'a turn, and the agent cannot be started',
      {turn},
      {...idle, ready: false, failed: true},
      {do: 'refuse', turn, why: 'failed'},
    ],
    ['a turn that was taken before', {turn}, {...idle, taken: new Set(['A'])}, {do: 'nothing'}],
    ['a turn that is stopped already', {turn, stop: {turnUid: 'A'}}, idle, {do: 'refuse', turn, why: 'stopped'}],
    ['a stop of another turn', {turn, stop: {turnUid: 'B'}}, busy, {do: 'nothing'}],
    ['a stop of the running turn', {turn, stop: {turnUid: 'A'}}, busy, {do: 'interrupt'}],
    [
      'a stop that was obeyed already',
      {turn, stop: {turnUid: 'A'}},
      {...busy, current: {uid: 'A', interrupting: true}},
      {do: 'nothing'},
    ],
    ['the running turn is not named any more', {}, busy, {do: 'confirm', since: 10_000}],
    [
      'and still is not',
      {},
      {...busy, current: {uid: 'A', interrupting: false, absentSince: 10_000 - ABSENT_FOR}},
      {do: 'interrupt'},
    ],
    ['Stop while a turn runs', {turn, desired: 'Stop'}, busy, {do: 'nothing'}],
    ['Stop with a turn that has not begun', {turn, desired: 'Stop'}, idle, {do: 'take', turn}],
    ['Stop when idle', {desired: 'Stop'}, idle, {do: 'leave'}],
    [
      'Stop while the end of the turn is not stored yet',
      {turn, desired: 'Stop'},
      {...idle, taken: new Set(['A'])},
      {do: 'nothing'},
    ],
  ])('%s', (_name, change, doing, step) => {
    expect(nextStep({...desired, ...change}, doing, 10_000)).toEqual(step);
  });
});
