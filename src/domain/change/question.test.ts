import {describe, expect, test} from 'vitest';
import type {QuestionObject} from '../../api/v1alpha1/index.ts';
import {hasRoom} from './question.ts';

const of = (count: number, kind: 'Ask' | 'Permission', turn = 't1'): QuestionObject[] =>
  Array.from({length: count}, (_, i) => ({
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'Question',
    metadata: {
      namespace: 'team-a',
      name: `${turn}-${kind}-${i}`.toLowerCase(),
      uid: `u${i}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation: 1,
    },
    spec: {session: 'one', turn, kind, text: 'x', to: 'Owner', expiresAt: '2026-01-01T00:00:00Z'},
    status: {phase: 'Expired'},
  }));

describe('how often one turn may ask, answered or not', () => {
  test.each([
    ['nothing yet', [], {name: 'new', asked: true}, true],
    ['49 asked', of(49, 'Ask'), {name: 'new', asked: true}, true],
    ['50 asked', of(50, 'Ask'), {name: 'new', asked: true}, false],
    ['50 asked, and one of them again', of(50, 'Ask'), {name: 't1-ask-7', asked: true}, true],
    ['50 asked, and a permission', of(50, 'Ask'), {name: 'new', asked: false}, true],
    ['50 asked by another turn', of(50, 'Ask', 't2'), {name: 'new', asked: true}, true],
    ['249 permissions', of(249, 'Permission'), {name: 'new', asked: false}, true],
    ['250 permissions', of(250, 'Permission'), {name: 'new', asked: false}, false],
    ['250 permissions, and a question', of(250, 'Permission'), {name: 'new', asked: true}, false],
    ['250 permissions, and one of them again', of(250, 'Permission'), {name: 't1-permission-3', asked: false}, true],
  ] as const)('%s', (_, questions, wanted, room) => {
    expect(hasRoom(questions, 't1', wanted)).toBe(room);
  });
});
