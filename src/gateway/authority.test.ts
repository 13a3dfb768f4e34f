import {writeFile} from 'node:fs/promises';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {digest, type GatewayFixture, jwt, KEY, rpc, startGatewayFixture} from '../../test/support/gateway-fixture.ts';
import {Sessions} from '../kube/kinds.ts';

let fixture: GatewayFixture;
beforeEach(async () => {
  fixture = await startGatewayFixture();
  fixture.addAgent('writer', ['self_session', 'ask']);
  fixture.addAgent('lead', ['sessions']);
});
afterEach(() => fixture.close());

const bearer = (token: string) => ({authorization: `Bearer ${token}`});
const call = async (headers: Record<string, string>, name: string, args: object, path = '/mcp'): Promise<string> => {
  const reply = await fixture.post(path, rpc('tools/call', {name, arguments: args}), headers);
  return await reply.text();
};

describe('sessions', () => {
  test('a token works only while its pod is the pod of the Session', async () => {
    const {session, token} = fixture.addRunning('one', 'writer');
    await fixture.settle();
    expect(await call(bearer(token), 'get_session', {})).toContain('- ID: one');
    const moved = fixture.api.put(Sessions, {
      ...session,
      status: {...session.status, pod: {name: 'p', uid: 'another-pod'}},
    });
    await fixture.caches.sessions.waitFor({namespace: 'team-a', name: 'one'}, moved.metadata.resourceVersion, {
      timeoutMs: 5_000,
    });
    expect((await fixture.post('/mcp', rpc('tools/list'), bearer(token))).status).toBe(401);
  });

  test('a token of another audience is refused', async () => {
    fixture.addRunning('one', 'writer');
    await fixture.settle();
    for (const aud of ['carrel-runner', 'carrel-egress', 'https://kubernetes.default.svc']) {
      const token = jwt({aud: [aud], namespace: 'team-a', podUid: 'pod-one'});
      expect((await fixture.post('/mcp', rpc('tools/list'), bearer(token))).status).toBe(401);
    }
  });

  test('no verdict is 503, not 401', async () => {
    const {token} = fixture.addRunning('one', 'writer');
    await fixture.settle();
    fixture.api.fault = () => ({status: 422, body: {}});
    const reply = await fixture.post('/mcp', rpc('tools/list'), bearer(token));
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
  });

  test.each([
    ['/api/v1/sessions', /"forbidden".*may not list sessions\.carrel\.dev in namespace \\"team-b/],
    ['/api/v1/sessions/one', /"forbidden".*may not get sessions\.carrel\.dev \\"one\\" in namespace \\"team-b/],
    [
      '/api/v1/sessions/one/transcript',
      /"forbidden".*may not get sessions\.carrel\.dev\/transcript \\"one\\" in namespace \\"team-b/,
    ],
  ])('REST names the missing right, also to a caller that no tool is shown to: %s', async (path, says) => {
    const reply = await fetch(`${fixture.url}${path}?namespace=team-b`, {headers: {'X-API-Key': KEY}});
    expect(reply.status).toBe(403);
    expect(await reply.text()).toMatch(says);
  });

  test('MCP names the missing right of a tool that it does not show', async () => {
    const said = await call({'X-API-Key': KEY}, 'quick_search_sessions', {}, '/mcp/team-b');
    expect(said).toMatch(/-32602.*not found on this connection: .* may not list sessions\.carrel\.dev in namespace/);
  });

  test('REST tells a session which tool its Agent does not give it', async () => {
    fixture.addAgent('asker', ['ask']);
    const {token} = fixture.addRunning('one', 'asker');
    await fixture.settle();
    const reply = await fetch(`${fixture.url}/api/v1/sessions`, {headers: bearer(token)});
    expect(reply.status).toBe(403);
    expect(await reply.text()).toContain('the tool quick_search_sessions, which the groups of your Agent do not give');
  });

  test('a session acts on itself and its descendants only', async () => {
    const {session: lead, token} = fixture.addRunning('lead-1', 'lead');
    const child = fixture.addSession('child', {requester: {session: 'lead-1', uid: lead.metadata.uid}});
    fixture.addSession('grandchild', {requester: {session: 'child', uid: child.metadata.uid}});
    fixture.addSession('stranger');
    fixture.addSession('impostor', {requester: {session: 'lead-1', uid: 'an-older-uid'}});
    await fixture.settle();
    const act = (id: string) =>
      call(bearer(token), 'action_session', {action: 'update_title', session_id: id, title: 'T'});
    for (const id of ['lead-1', 'child', 'grandchild']) expect(await act(id)).toContain('updated');
    for (const id of ['stranger', 'impostor', 'absent']) expect(await act(id)).toContain('session_not_found');
    const seen = await call(bearer(token), 'quick_search_sessions', {});
    expect(seen).toContain('3 found');
    expect(seen).not.toContain('stranger');
  });

  test('the groups are what the revision pins AND the live Agent allows; the URL cannot widen them', async () => {
    const {token} = fixture.addRunning('one', 'writer');
    await fixture.settle();
    expect(await call(bearer(token), 'start_session', {agent_root: 'writer'}, '/mcp?tool_groups=sessions')).toContain(
      '-32602',
    );
    fixture.addAgent('writer', ['ask']);
    await fixture.settle();
    const listed = await (await fixture.post('/mcp', rpc('tools/list'), bearer(token))).text();
    expect(listed).toContain('ask_user');
    expect(listed).not.toContain('get_session');
  });

  test('Z-029 on self_session action_session knows its narrow actions only', async () => {
    const {token} = fixture.addRunning('one', 'writer');
    await fixture.settle();
    const listed = await (await fixture.post('/mcp', rpc('tools/list'), bearer(token))).text();
    expect(listed).toContain('"enum":["archive","update_notes","update_title"]');
    const refused = await call(bearer(token), 'action_session', {action: 'follow_up', prompt: 'x'});
    expect(refused).toContain('invalid_arguments: action');
    expect(fixture.api.requests.some((r) => r.method === 'POST' && r.path.endsWith('/turns'))).toBe(false);
  });

  test('a session of another namespace in the path is refused', async () => {
    const {token} = fixture.addRunning('one', 'writer');
    await fixture.settle();
    expect((await fixture.post('/mcp/team-b', rpc('tools/list'), bearer(token))).status).toBe(403);
    expect((await fixture.post('/mcp/team-a', rpc('tools/list'), bearer(token))).status).toBe(200);
  });

  test('a child with more tools than its parent is refused', async () => {
    fixture.addAgent('asker', ['sessions', 'ask']);
    const {token} = fixture.addRunning('lead-1', 'lead');
    await fixture.settle();
    expect(await call(bearer(token), 'start_session', {agent_root: 'asker'})).toContain('forbidden');
    const started = await call(bearer(token), 'start_session', {agent_root: 'lead', idempotency_key: 'key-0001'});
    expect(started).toContain('Session Started');
    const made = fixture.api.list(Sessions).find((s) => s.metadata.name.startsWith('s-'));
    expect(made?.spec.requester?.session).toBe('lead-1');
  });
});

describe('people and keys', () => {
  test('a person needs a namespace in the path, and the rights that the tool names', async () => {
    fixture.addSession('one');
    await fixture.settle();
    const token = jwt({aud: ['carrel'], user: 'jane@example.com'});
    expect((await fixture.post('/mcp', rpc('tools/list'), bearer(token))).status).toBe(400);
    expect(await call(bearer(token), 'get_session', {session_id: 'one'}, '/mcp/team-a')).toContain('- ID: one');
    expect(await call(bearer(token), 'get_session', {session_id: 'one'}, '/mcp/team-b')).toContain('-32602');
  });

  test('an extra audience is accepted, an unknown one refused with the command that makes a right one', async () => {
    const good = jwt({aud: ['oidc-client'], user: 'jane@example.com'});
    expect((await fixture.post('/mcp/team-a', rpc('tools/list'), bearer(good))).status).toBe(200);
    const bad = await fixture.post('/mcp/team-a', rpc('tools/list'), bearer(jwt({aud: ['other'], user: 'jane'})));
    expect([bad.status, await bad.text()]).toEqual([401, expect.stringContaining('kubectl create token')]);
  });

  test('a key without a binding sees nothing and can do nothing', async () => {
    fixture.rights.clear();
    const listed: unknown = await (await fixture.post('/mcp', rpc('tools/list'), {'X-API-Key': KEY})).json();
    expect(listed).toMatchObject({result: {tools: []}});
    expect(await call({'X-API-Key': KEY}, 'quick_search_sessions', {})).toContain('-32602');
  });

  test('a right that is there for some calls only is refused by name', async () => {
    fixture.addSession('one', {}, {phase: 'Idle'});
    await fixture.settle();
    fixture.rights.delete('create turns');
    const refused = await call({'X-API-Key': KEY}, 'action_session', {
      action: 'follow_up',
      session_id: 'one',
      prompt: 'x',
    });
    expect(refused).toContain('forbidden: system:serviceaccount:team-a:bot may not create turns.carrel.dev');
  });

  test('Z-012 the key file is read again when it changes', async () => {
    await writeFile(
      fixture.keysFile,
      JSON.stringify({other: {sha256: digest('another-key'), serviceAccount: 'team-a/bot'}}),
    );
    await expect
      .poll(async () => (await fixture.post('/mcp', rpc('tools/list'), {'X-API-Key': 'another-key'})).status, {
        timeout: 5_000,
      })
      .toBe(200);
    expect((await fixture.post('/mcp', rpc('tools/list'), {'X-API-Key': KEY})).status).toBe(401);
  });

  test('ask_user is not for people or keys', async () => {
    expect(await call({'X-API-Key': KEY}, 'ask_user', {question: 'x'}, '/mcp?tool_groups=ask')).toContain('-32602');
  });

  test('no credential and no prompt ever reaches a log line', async () => {
    fixture.addSession('one', {}, {phase: 'Idle'});
    await fixture.settle();
    await call({'X-API-Key': KEY}, 'action_session', {action: 'follow_up', session_id: 'one', prompt: 'private words'});
    const lines = JSON.stringify(fixture.lines);
    expect(lines).toContain('"audit":true');
    expect(lines).not.toContain(KEY);
    expect(lines).not.toContain('private words');
  });
});
