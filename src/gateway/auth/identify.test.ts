import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {eventually} from '../../../test/support/eventually.ts';
import {type GatewayFixture, jwt, rpc, startWithWriter} from '../../../test/support/gateway-fixture.ts';
import type {SessionObject} from '../../api/v1alpha1/index.ts';
import {Agents, Sessions} from '../../kube/kinds.ts';

const ref = {namespace: 'team-a', name: 'one'};
const SESSION_UID = '0a1b2c3d-0000-4000-8000-000000000000';
const POD = {name: 'carrel-one-0a1b2c3d-2', uid: 'pod-2'};
const LIVE = '/apis/carrel.dev/v1alpha1/namespaces/team-a/sessions/one';

let fixture: GatewayFixture;
beforeEach(async () => {
  fixture = await startWithWriter();
});
afterEach(() => fixture.close());

function putSession(pod: {name: string; uid: string} | undefined, attempt = 2): SessionObject {
  const revision = fixture.api.get(Agents, {namespace: 'team-a', name: 'writer'})?.status?.publishedRevision ?? '';
  const spec = {agent: 'writer', desired: 'Active' as const, restart: 0, ttlAfterFinished: '7d', turnHistoryLimit: 20};
  const status = {phase: 'Running' as const, attempt, revision, ...(pod === undefined ? {} : {pod})};
  return fixture.api.put(Sessions, {metadata: {...ref, uid: SESSION_UID}, spec, status});
}
const tokenOf = ({name, uid}: {name: string; uid: string}) =>
  jwt({aud: ['carrel-mcp'], namespace: 'team-a', podUid: uid, podName: name});
async function list(token = tokenOf(POD)): Promise<{status: number; text: string}> {
  const reply = await fixture.post('/mcp', rpc('tools/list'), {authorization: `Bearer ${token}`});
  return {status: reply.status, text: await reply.text()};
}
const served = {status: 200, text: expect.stringContaining('"get_session"')};
const fenced = {status: 401, text: expect.stringContaining('is not the pod of any session now')};
const liveReads = () => fixture.api.requests.filter((r) => r.method === 'GET' && r.path === LIVE).length;
const answer = (path: string, status: number) => {
  const before = fixture.api.fault;
  fixture.api.fault = (seen) => (seen.path === path ? {status} : before(seen));
};
async function breakWatches(): Promise<void> {
  const before = fixture.api.fault;
  fixture.api.fault = (seen) => (seen.query.has('watch') ? 'hang' : before(seen));
  fixture.api.endWatches('break');
  await eventually(() => expect(fixture.caches.sessions.fresh()).toBe(false));
}

describe('the pod of a session token', () => {
  test('is known from the cache alone while its watch is open: no call of the API server', async () => {
    putSession(POD);
    await fixture.settle();
    await list();
    const before = fixture.api.requests.length;
    expect(await list()).toEqual(served);
    expect(fixture.api.requests).toHaveLength(before);
  });

  test('is read live while the watch is broken, so that a replaced pod is not served', async () => {
    putSession(POD);
    await fixture.settle();
    await breakWatches();
    expect(await list()).toEqual(served);
    putSession({name: 'carrel-one-0a1b2c3d-3', uid: 'pod-3'}, 3);
    expect(await list()).toEqual(fenced);
    fixture.api.drop(Sessions, ref);
    expect(await list()).toEqual(fenced);
  });

  test('that cannot be read while the watch is broken is no verdict: 503, not 401', async () => {
    putSession(POD);
    await fixture.settle();
    await breakWatches();
    answer(LIVE, 410);
    expect(await list()).toEqual({status: 503, text: expect.stringContaining('"auth_unavailable"')});
  });

  test('is waited for where the cache is behind, not refused', async () => {
    fixture.api.hold();
    putSession(POD);
    const listed = list();
    await eventually(() => expect(liveReads()).toBe(1));
    fixture.api.release();
    expect(await listed).toEqual(served);
  });

  test('is 503 where the cache stays behind: what the session may do is not known here', async () => {
    fixture.api.hold();
    putSession(POD);
    expect(await list()).toEqual({status: 503, text: expect.stringContaining('has not seen the pod')});
  });

  test('is 503 before the Session names it', async () => {
    putSession(undefined);
    await fixture.settle();
    expect(await list()).toEqual({status: 503, text: expect.stringContaining('does not name the pod')});
  });

  test.each([
    ['of an earlier attempt', {name: 'carrel-one-0a1b2c3d-1', uid: 'pod-1'}],
    ['of an older Session of that name', {name: 'carrel-one-ffffffff-2', uid: 'pod-f'}],
    ['of the name of the present one, made anew', {...POD, uid: 'pod-again'}],
    ['that is no session at all', {name: 'thief', uid: 'pod-thief'}],
  ])('is refused when it is one %s', async (_name, pod) => {
    putSession(POD);
    await fixture.settle();
    expect(await list(tokenOf(pod))).toEqual(fenced);
  });
});
