import {describe, expect, test} from 'vitest';
import type {SessionObject} from '../../api/v1alpha1/index.ts';
import {isWithin, rootOf} from './lineage.ts';

function session(name: string, uid: string, requester?: {session: string; uid: string}, owner = 'ada'): SessionObject {
  return {
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'Session',
    metadata: {name, uid, namespace: 'a', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z'},
    spec: {
      agent: 'a',
      owner,
      desired: 'Active',
      restart: 0,
      ttlAfterFinished: '7d',
      turnHistoryLimit: 20,
      ...(requester && {requester}),
    },
  };
}
const world =
  (...all: SessionObject[]) =>
  (name: string) =>
    all.find((s) => s.metadata.name === name);
const root = session('root', 'r');
const child = session('child', 'c', {session: 'root', uid: 'r'});
const grandchild = session('grandchild', 'g', {session: 'child', uid: 'c'});
const foundling = session('foundling', 'f', {session: 'root', uid: 'r'}, 'bob');

describe('descent', () => {
  test.each([
    ['itself', root, root, true],
    ['its child', root, child, true],
    ['its grandchild', root, grandchild, true],
    ['its parent', child, root, false],
    ['a stranger', session('x', 'x'), grandchild, false],
    ['a child of another owner', root, session('theirs', 't', {session: 'root', uid: 'r'}, 'bob'), false],
    ['itself, whoever owns it', foundling, foundling, true],
  ])('of %s', (_, ancestor, target, expected) => {
    expect(isWithin(ancestor, target, world(root, child, grandchild))).toBe(expected);
  });

  test('a link that was deleted and made again under its name gives no authority', () => {
    expect(
      isWithin(root, grandchild, world(root, session('child', 'another', {session: 'root', uid: 'r'}), grandchild)),
    ).toBe(false);
  });

  test('a direct child stays one when its parent is gone from the cache', () => {
    expect(isWithin(root, child, world(child))).toBe(true);
  });

  test('a circle ends', () => {
    const a = session('a', 'a', {session: 'b', uid: 'b'});
    const b = session('b', 'b', {session: 'a', uid: 'a'});
    expect(isWithin(session('x', 'x'), a, world(a, b))).toBe(false);
    expect(rootOf(a, world(a, b))).toBeDefined();
  });
});
