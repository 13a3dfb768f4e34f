import {expect, test} from 'vitest';
import {ApiError, type ApiErrorKind} from './errors.ts';
import {type FailedAttempt, retryDelay} from './retry.ts';

const failed = (
  kind: ApiErrorKind,
  more: Partial<FailedAttempt> & {retryAfterSeconds?: number} = {},
): FailedAttempt => ({
  error: new ApiError({
    kind,
    status: 0,
    reason: '',
    message: '',
    causes: [],
    request: '',
    retryAfterSeconds: more.retryAfterSeconds,
  }),
  attempts: 1,
  repeatable: true,
  sent: true,
  sinceTroubleMs: Number.POSITIVE_INFINITY,
  ...more,
});

test.each([
  ['a read meets a broken connection', failed('Unavailable'), 100],
  ['a create may have arrived', failed('Unavailable', {repeatable: false}), undefined],
  ['a create never left', failed('Unavailable', {repeatable: false, sent: false}), 100],
  ['third attempt waits longer', failed('Unavailable', {attempts: 3}), 400],
  ['sixth attempt was the last', failed('Unavailable', {attempts: 6}), undefined],
  ['the server asks for 2 s', failed('Throttled', {retryAfterSeconds: 2, repeatable: false}), 2250],
  ['RBAC refuses in quiet times', failed('Forbidden'), undefined],
  ['RBAC refuses just after a reconnect', failed('Forbidden', {sinceTroubleMs: 400}), 100],
  ['token refused once', failed('Unauthorized'), 0],
  ['token refused again', failed('Unauthorized', {attempts: 2}), undefined],
  ['conflict', failed('Conflict'), undefined],
  ['test failed', failed('TestFailed'), undefined],
])('%s', (_state, attempt, delay) => {
  expect(retryDelay(attempt, 0.5)).toBe(delay);
});
