import {expect, test} from 'vitest';
import {refusal} from './classify.ts';

const status = (code: number, reason: string, message: string, details: object = {}) => ({
  status: code,
  headers: {},
  text: JSON.stringify({kind: 'Status', status: 'Failure', code, reason, message, details}),
});
const cause = {reason: 'FieldValueInvalid', message: 'too long', field: 'spec.title'};

test.each([
  ['RBAC refuses', 'Forbidden', status(403, 'Forbidden', 'pods is forbidden: User "x" cannot create resource "pods"')],
  [
    'quota is used up',
    'QuotaExceeded',
    status(403, 'Forbidden', 'pods "a" is forbidden: exceeded quota: q, requested: count/turns.carrel.dev=1'),
  ],
  [
    'policy denies with 403',
    'PolicyDenied',
    status(403, 'Forbidden', "ValidatingAdmissionPolicy 'x' with binding 'y' denied request: no"),
  ],
  [
    'policy denies with 422',
    'PolicyDenied',
    status(
      422,
      'Invalid',
      "pods \"a\" is forbidden: ValidatingAdmissionPolicy 'x' with binding 'y' denied request: no",
      {causes: [cause]},
    ),
  ],
  ['webhook denies', 'PolicyDenied', status(400, 'BadRequest', 'admission webhook "w" denied the request: no')],
  [
    'namespace is going',
    'NamespaceTerminating',
    status(403, 'Forbidden', 'unable to create new content', {
      causes: [{reason: 'NamespaceTerminating', message: '', field: ''}],
    }),
  ],
  [
    'namespace is missing',
    'NamespaceNotFound',
    status(404, 'NotFound', 'namespaces "a" not found', {kind: 'namespaces'}),
  ],
  ['object is missing', 'NotFound', status(404, 'NotFound', 'pods "a" not found', {kind: 'pods'})],
  ['kind is not served', 'NotServed', {status: 404, headers: {}, text: '404 page not found\n'}],
  ['name is taken', 'AlreadyExists', status(409, 'AlreadyExists', 'turns.carrel.dev "t3" already exists')],
  [
    'name is taken by a dying object',
    'Terminating',
    status(409, 'AlreadyExists', 'object is being deleted: turns.carrel.dev "t3" already exists'),
  ],
  ['version is stale', 'Conflict', status(409, 'Conflict', 'the object has been modified')],
  [
    'JSON Patch test fails',
    'TestFailed',
    status(422, 'Invalid', 'the server rejected our request due to an error in our request'),
  ],
  ['schema refuses', 'Invalid', status(422, 'Invalid', 'spec.title: Too long', {causes: [cause]})],
  ['unknown field, strict', 'Invalid', status(400, 'BadRequest', 'strict decoding error: unknown field "spec.bogus"')],
  ['list token expired', 'Expired', status(410, 'Expired', 'The provided continue parameter is too old')],
  ['body is too large', 'TooLarge', status(413, 'RequestEntityTooLarge', 'limit is 3145728')],
  ['etcd refuses the size', 'TooLarge', status(500, '', 'rpc error: code = ResourceExhausted')],
  ['server is busy', 'Throttled', status(429, 'TooManyRequests', 'storage is (re)initializing')],
  ['version is from the future', 'Unavailable', status(504, 'Timeout', 'Too large resource version')],
  ['token is refused', 'Unauthorized', status(401, 'Unauthorized', 'Unauthorized')],
] as const)('%s: kind %s', (_state, kind, reply) => {
  expect(refusal(reply, 'PATCH pods a/b').kind).toBe(kind);
});

test('a missing namespace is plainly not found when the namespace itself was asked for', () => {
  const reply = status(404, 'NotFound', 'namespaces "a" not found', {kind: 'namespaces'});
  expect(refusal(reply, 'GET namespaces a').kind).toBe('NotFound');
});

test('Retry-After comes from the header, else from the body', () => {
  const body = status(429, 'TooManyRequests', 'busy', {retryAfterSeconds: 7});
  expect(refusal(body, 'GET pods').facts.retryAfterSeconds).toBe(7);
  expect(refusal({...body, headers: {'retry-after': '2'}}, 'GET pods').facts.retryAfterSeconds).toBe(2);
});
