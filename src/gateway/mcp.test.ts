import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {type GatewayFixture, KEY, META, rpc, startGatewayFixture} from '../../test/support/gateway-fixture.ts';
import {sendRaw} from '../../test/support/raw-http.ts';

let fixture: GatewayFixture;

beforeAll(async () => {
  fixture = await startGatewayFixture();
  fixture.addAgent('writer', ['self_session', 'ask']);
  fixture.addRunning('one', 'writer');
  await fixture.settle();
});
afterAll(() => fixture.close());

const key = {'X-API-Key': KEY};
const names = (body: unknown): string[] => {
  const found = JSON.stringify(body).matchAll(/"name":"([a-z_]+)","description"/g);
  return [...found].map((m) => m[1] ?? '').sort();
};
const SESSIONS = ['action_session', 'get_session', 'get_transcript_archive', 'quick_search_sessions', 'start_session'];

describe('transport', () => {
  test('Z-001 a tool works on the domain itself: one request comes in, and none of ours goes out to ourselves', async () => {
    fixture.answered.length = 0;
    const call = rpc('tools/call', {name: 'get_session', arguments: {session_id: 'one'}});
    expect(JSON.stringify(await (await fixture.post('/mcp', call, key)).json())).toContain('- ID: one');
    const rest = await fetch(`${fixture.url}/api/v1/sessions/one`, {headers: key});
    expect(await rest.json()).toMatchObject({session: {metadata: {name: 'one'}}});
    await expect.poll(() => fixture.answered).toEqual(['mcp 200', 'api 200']);
  });

  test('Z-004 no reply names a session, also where a client invents one', async () => {
    const params = {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 't', version: '1'}};
    const modern = {'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list'};
    for (const [body, version] of [
      [rpc('initialize', params), {}],
      [rpc('tools/list'), {}],
      [rpc('tools/list', {_meta: META}), modern],
    ] as const) {
      const reply = await fixture.post('/mcp', body, {...key, ...version, 'mcp-session-id': 'made-up'});
      expect([reply.status, reply.headers.get('mcp-session-id')]).toEqual([200, null]);
    }
  });

  test('Z-014 one key opens both fronts, a wrong one neither', async () => {
    for (const [headers, status] of [
      [key, 200],
      [{'X-API-Key': 'wrong-key-wrong-key'}, 401],
    ] as const) {
      expect((await fixture.post('/mcp', rpc('tools/list'), headers)).status).toBe(status);
      expect((await fetch(`${fixture.url}/api/v1/sessions`, {headers})).status).toBe(status);
    }
  });

  test('Z-016 without a good key nothing is read of the cluster', async () => {
    const before = fixture.api.requests.filter((r) => !r.path.includes('watch')).length;
    const call = rpc('tools/call', {name: 'get_session', arguments: {session_id: 'one'}});
    for (const headers of [{}, {'X-API-Key': 'wrong-key-wrong-key'}])
      expect((await fixture.post('/mcp', call, headers)).status).toBe(401);
    expect(fixture.api.requests.filter((r) => !r.path.includes('watch'))).toHaveLength(before);
  });

  test('Z-003 Z-005 a bare request answers tools/list as one JSON body', async () => {
    const reply = await fixture.post('/mcp', rpc('tools/list'), {...key, accept: '*/*'});
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toContain('application/json');
    expect(reply.headers.get('mcp-session-id')).toBeNull();
    expect(names(await reply.json())).toEqual(SESSIONS);
  });

  test('Z-015 a bearer key is the same as X-API-Key', async () => {
    const reply = await fixture.post('/mcp', rpc('tools/list'), {authorization: `Bearer ${KEY}`});
    expect(names(await reply.json())).toEqual(SESSIONS);
  });

  test('Z-002 a protocol version that nobody knows is refused with those that are known; initialize negotiates instead', async () => {
    const unknown = {...key, 'mcp-protocol-version': '1999-01-01'};
    const refused = await fixture.post('/mcp', rpc('tools/list'), unknown);
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringMatching(/1999-01-01.*2025-11-25/)]);
    const params = {protocolVersion: '1999-01-01', capabilities: {}, clientInfo: {name: 't', version: '1'}};
    const reply = await fixture.post('/mcp', rpc('initialize', params), unknown);
    expect(await reply.json()).toMatchObject({result: {protocolVersion: '2025-11-25'}});
  });

  test('a notification is taken with 202 and no body', async () => {
    const reply = await fixture.post('/mcp', {jsonrpc: '2.0', method: 'notifications/initialized'}, key);
    expect([reply.status, await reply.text()]).toEqual([202, '']);
  });

  test.each([{}, {jsonrpc: '2.0'}, {method: 'tools/list', id: 1}, 7, 'text', null])(
    'Z-002 a body that is no JSON-RPC message is an error: %j',
    async (body) => {
      const reply = await fixture.post('/mcp', JSON.stringify(body), key);
      expect(reply.status).toBe(400);
      expect(await reply.json()).toMatchObject({jsonrpc: '2.0', error: {code: -32_600}});
    },
  );

  test.each(['GET', 'DELETE', 'PUT'])('Z-006 Z-007 %s is 405 with Allow', async (method) => {
    const reply = await fetch(`${fixture.url}/mcp`, {method, headers: key});
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('Z-008 a batch is refused and nothing of it runs', async () => {
    const before = fixture.lines.length;
    const reply = await fixture.post('/mcp', [rpc('tools/list'), rpc('tools/list', {}, 2)], key);
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({error: {code: -32600, data: {code: 'batch_refused'}}});
    expect(fixture.lines.length).toBe(before);
  });

  test('Z-009 two requests with different groups see different lists', async () => {
    const [a, b] = await Promise.all([
      fixture.post('/mcp?tool_groups=sessions_readonly', rpc('tools/list'), key),
      fixture.post('/mcp?tool_groups=self_session', rpc('tools/list'), key),
    ]);
    expect(names(await a.json())).toEqual(['get_session', 'get_transcript_archive', 'quick_search_sessions']);
    expect(names(await b.json())).toEqual(['action_session', 'get_session']);
  });

  test('Z-026 an unknown group is dropped with a warning', async () => {
    const reply = await fixture.post('/mcp?tool_groups=sessions,bogus', rpc('tools/list'), key);
    expect(names(await reply.json())).toEqual(SESSIONS);
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({level: 'warn', fields: expect.objectContaining({groups: ['bogus']})}),
    );
  });

  test('Z-027 a tool that is not advertised is a JSON-RPC error', async () => {
    const call = rpc('tools/call', {name: 'start_session', arguments: {agent_root: 'writer'}});
    const reply = await fixture.post('/mcp?tool_groups=health', call, key);
    expect(await reply.json()).toMatchObject({error: {code: -32602}});
  });

  test('Z-160 an unknown method is a JSON-RPC error', async () => {
    const reply = await fixture.post('/mcp', rpc('foo/bar'), key);
    expect(await reply.json()).toMatchObject({error: {code: -32601}});
  });

  test('Z-159 arguments that do not fit are an error result that says which', async () => {
    const reply = await fixture.post(
      '/mcp',
      rpc('tools/call', {name: 'get_session', arguments: {session_id: 7, halt: true}}),
      key,
    );
    const body: unknown = await reply.json();
    expect(body).toMatchObject({result: {isError: true}});
    expect(JSON.stringify(body)).toContain('invalid_arguments: session_id');
    expect(JSON.stringify(body)).toContain('remove it and call again');
  });
});

describe('refusals before any tool', () => {
  const list = rpc('tools/list');
  const cases: [string, number, string, () => Promise<Response>][] = [
    ['no credential', 401, 'unauthorized', () => fixture.post('/mcp', list)],
    ['a wrong key', 401, 'unauthorized', () => fixture.post('/mcp', list, {'X-API-Key': 'wrong-key-wrong-key'})],
    [
      'a key that comes as a cookie',
      401,
      'unauthorized',
      () => fixture.post('/mcp', list, {cookie: `X-API-Key=${KEY}; authorization=Bearer ${KEY}; ${KEY}`}),
    ],
    [
      'two credentials',
      401,
      'two_credentials',
      () => fixture.post('/mcp', list, {...key, authorization: `Bearer ${KEY}`}),
    ],
    [
      'a foreign Origin',
      403,
      'origin_not_allowed',
      () => fixture.post('/mcp', list, {...key, origin: 'https://evil.example'}),
    ],
    ['Origin null', 403, 'origin_not_allowed', () => fixture.post('/mcp', list, {...key, origin: 'null'})],
    ['a body over 1 MiB', 413, 'body_too_large', () => fixture.post('/mcp', `"${'x'.repeat(1_048_577)}"`, key)],
    ['another media type', 415, 'media_type', () => fixture.post('/mcp', list, {...key, 'content-type': 'text/plain'})],
    ['no JSON', 400, 'invalid_json', () => fixture.post('/mcp', '{', key)],
    ['an unknown path', 404, 'path_not_found', () => fixture.post('/mcp/a/b', list, key)],
  ];
  test.each(cases)('%s', async (_, status, code, send) => {
    const reply = await send();
    expect(reply.status).toBe(status);
    expect(await reply.json()).toMatchObject({error: {data: {code}}});
  });

  test.each(['evil.example', 'evil.example:8080', 'localhost.evil.example', ''])(
    'Z-010 Host %j is refused',
    async (host) => {
      const body = JSON.stringify(list);
      const head = [
        `POST /mcp HTTP/1.1`,
        `Host: ${host}`,
        `X-API-Key: ${KEY}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
      ];
      const reply = await sendRaw(
        fixture.gateway.ports.main,
        `${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`,
      );
      expect(reply.status).toBe(403);
      expect(reply.body).toContain('host_not_allowed');
    },
  );

  test('two Authorization headers are two credentials', async () => {
    const head = [
      'POST /mcp HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${KEY}`,
      `Authorization: Bearer ${KEY}`,
      'Content-Length: 2',
    ];
    const reply = await sendRaw(fixture.gateway.ports.main, `${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n{}`);
    expect([reply.status, reply.body.includes('two_credentials')]).toEqual([401, true]);
  });

  test('an allowed Origin passes', async () => {
    expect((await fixture.post('/mcp', list, {...key, origin: 'https://carrel.example'})).status).toBe(200);
  });
});
