import {expect, test} from 'vitest';
import {fakeClock} from '../../test/support/fake-clock.ts';
import {ApiError} from './errors.ts';
import type {ReviewKind} from './ports.ts';
import {createTokenReviewer} from './token-review.ts';

const accepted = {
  authenticated: true,
  audiences: ['carrel-mcp'],
  user: {
    username: 'system:serviceaccount:team-a:carrel-scribe',
    uid: 'sa-uid',
    groups: ['system:serviceaccounts'],
    extra: {
      'authentication.kubernetes.io/pod-uid': ['pod-uid'],
      'authentication.kubernetes.io/pod-name': ['carrel-one-1'],
    },
  },
};
const refusedStatus = {authenticated: false, error: 'token has expired'};
const unavailable = new ApiError({
  kind: 'Unavailable',
  status: 503,
  reason: '',
  message: 'no',
  causes: [],
  request: 'POST tokenreviews',
});

function reviewer(...answers: readonly (object | ApiError)[]) {
  const clock = fakeClock();
  const asked: object[] = [];
  const client = {
    async review<S extends object, R>(kind: ReviewKind<S, R>, spec: S): Promise<R> {
      asked.push(spec);
      const answer = answers[Math.min(asked.length, answers.length) - 1];
      if (answer instanceof ApiError) throw answer;
      return kind.parse(answer);
    },
  };
  return {review: createTokenReviewer({client, clock}), clock, asked};
}

test('a pod-bound token is taken apart, and one audience is asked at a time', async () => {
  const {review, asked} = reviewer(accepted);
  expect(await review('t', 'carrel-mcp')).toEqual({
    username: 'system:serviceaccount:team-a:carrel-scribe',
    uid: 'sa-uid',
    groups: ['system:serviceaccounts'],
    extra: accepted.user.extra,
    podUid: 'pod-uid',
    podName: 'carrel-one-1',
    serviceAccount: {namespace: 'team-a', name: 'carrel-scribe'},
  });
  expect(asked).toEqual([{token: 't', audiences: ['carrel-mcp']}]);
});

test.each([
  ['authenticated, but for another audience', {...accepted, audiences: ['carrel-egress']}],
  ['authenticated by a server that says nothing of audiences', {...accepted, audiences: undefined}],
  ['of the right audience, but not authenticated', {...accepted, authenticated: false}],
  ['refused', refusedStatus],
])('a token that is %s is not accepted', async (_name, status) => {
  expect(await reviewer(status).review('t', 'carrel-mcp')).toBeUndefined();
});

test.each([
  ['10 s', 'a yes', accepted, 9_999],
  ['2 s', 'a no', refusedStatus, 1_999],
])('for %s %s is trusted, then asked again', async (_time, _name, status, trustedMs) => {
  const {review, clock, asked} = reviewer(status);
  const first = await review('t', 'carrel-mcp');
  await clock.advance(trustedMs);
  expect(await review('t', 'carrel-mcp')).toBe(first);
  expect(asked).toHaveLength(1);
  await clock.advance(1);
  await review('t', 'carrel-mcp');
  expect(asked).toHaveLength(2);
});

test('a verdict holds for its token and its audience only', async () => {
  const {review, asked} = reviewer(accepted);
  expect(await review('t', 'carrel-mcp')).toBeDefined();
  expect(await review('t', 'carrel-egress')).toBeUndefined();
  expect(await review('u', 'carrel-mcp')).toBeDefined();
  expect(asked).toHaveLength(3);
});

test('equal reviews in flight are made once, others are not held up by them', async () => {
  const {review, asked} = reviewer(accepted);
  const verdicts = await Promise.all([review('t', 'carrel-mcp'), review('t', 'carrel-mcp'), review('u', 'carrel-mcp')]);
  expect(verdicts.map((v) => v?.podUid)).toEqual(['pod-uid', 'pod-uid', 'pod-uid']);
  expect(asked).toHaveLength(2);
});

test('no verdict is told to all who wait for it, and not remembered', async () => {
  const {review, asked} = reviewer(unavailable, accepted);
  const both = await Promise.allSettled([review('t', 'carrel-mcp'), review('t', 'carrel-mcp')]);
  expect(both.map((b) => (b.status === 'rejected' ? b.reason : 'settled'))).toEqual([unavailable, unavailable]);
  expect((await review('t', 'carrel-mcp'))?.podUid).toBe('pod-uid');
  expect(asked).toHaveLength(2);
});
