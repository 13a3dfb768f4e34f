import {randomUUID} from 'node:crypto';
import {Client as OfficialClient, StreamableHTTPClientTransport} from '@modelcontextprotocol/client';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {RELEASE_NAMESPACE} from '../../../hack/environment.ts';
import {openRelease, Place, until} from '../../support/release.ts';
import {AuditFrom} from './audit.ts';
import {claudeCode, codex} from './client-files.ts';
import {Client, type Door, EVERYTHING, field, makeAccount, openDoors, rpc, send, untilAgent} from './door.ts';
import {giveKeys, type Keys} from './keys.ts';

const GATEWAY = `system:serviceaccount:${RELEASE_NAMESPACE}:carrel-gateway`;
const ALL = ['action_session', 'get_session', 'get_transcript_archive', 'quick_search_sessions', 'start_session'];

let place: Place;
let doors: [Door, Door];
let keys: Keys;
let bot: Client;

beforeAll(async () => {
  place = await Place.make(await openRelease(), 'keys');
  doors = await openDoors(place.release);
  for (const name of ['bot', 'other']) await makeAccount(place, name, EVERYTHING);
  // A draft is never published: its sessions exist and make no pods.
  await place.agent('draft', {draft: true});
  keys = await giveKeys(place, doors, ['bot', 'other']);
  bot = keys.client('bot');
  await untilAgent(bot, doors, 'draft');
});
afterAll(async () => {
  await keys?.remove();
  await place?.remove();
});

const list = (headers: Record<string, string | string[]>, body: unknown = rpc('tools/list')) =>
  send(`${doors[0].url}/mcp`, {headers, body});

describe('API keys', () => {
  it('Z-015 works as X-API-Key and as Bearer alike, at both replicas', async () => {
    const bearer = new Client({authorization: `Bearer ${keys.of('bot')}`});
    for (const door of doors) {
      expect(await bot.tools(door)).toEqual(ALL);
      expect(await bearer.tools(door)).toEqual(ALL);
    }
  });

  it.each([
    ['.mcp.json of Claude Code', claudeCode],
    ['config.toml of Codex', codex],
  ])('Z-011 address and key in the %s, as the page shows it, are all that a client needs', async (_, read) => {
    for (const door of doors) {
      const {url, headers} = read(`${door.url}/mcp/${place.namespace}`, keys.of('bot'));
      expect(headers).toEqual({'X-API-Key': keys.of('bot')});
      const client = new OfficialClient({name: 'test', version: '1'}, {versionNegotiation: {mode: 'auto'}});
      await client.connect(new StreamableHTTPClientTransport(url, {requestInit: {headers}}));
      expect((await client.listTools()).tools.map((t) => t.name).sort()).toEqual(ALL);
      await client.close();
    }
  });

  it('Z-014 one key opens /mcp and /api/v1, a wrong one neither', async () => {
    expect(await bot.rest(doors[0], 'GET', '/sessions')).toMatchObject({status: 200, json: {total: 0}});
    const wrong = new Client({'X-API-Key': randomUUID()});
    expect(await wrong.rpc(doors[0], 'tools/list')).toMatchObject({
      status: 401,
      json: {error: {data: {code: 'unauthorized'}}},
    });
    expect(await wrong.rest(doors[0], 'GET', '/sessions')).toMatchObject({status: 401, json: {code: 'unauthorized'}});
  });

  it('Z-016 a missing or wrong key is refused before anything is read', async ({skip}) => {
    const log = place.release.cluster.auditLogPath;
    if (log === undefined) return skip('the cluster shows no audit log');
    const audit = await AuditFrom.now(log);
    for (const headers of [{}, {'X-API-Key': randomUUID()}, {authorization: `Bearer ${randomUUID()}`}]) {
      const nobody = new Client(headers, `/mcp/${place.namespace}`);
      const args = {agent_root: 'draft', title: 'never'};
      expect((await nobody.rpc(doors[0], 'tools/call', {name: 'start_session', arguments: args})).status).toBe(401);
      expect((await nobody.rest(doors[1], 'GET', `/sessions/x?namespace=${place.namespace}`)).status).toBe(401);
      expect((await nobody.rest(doors[1], 'POST', `/sessions?namespace=${place.namespace}`, args)).status).toBe(401);
    }
    // The right key leaves one trace afterwards, so the log is seen to hold all that came before.
    const said = await bot.call(doors[0], 'start_session', {agent_root: 'draft', title: 'allowed'});
    expect(said).toContain('## Session Started');
    await until(30_000, async () =>
      expect(await audit.requests(GATEWAY, place.namespace)).toEqual(['create sessions']),
    );
  });

  it('Z-159 neither a list of the tools nor arguments that do not fit read an object', async ({skip}) => {
    const log = place.release.cluster.auditLogPath;
    if (log === undefined) return skip('the cluster shows no audit log');
    const audit = await AuditFrom.now(log);
    const here = keys.client('bot', `/mcp/${place.namespace}`);
    for (const door of doors) {
      expect(await here.tools(door)).toEqual(ALL);
      for (const [tool, args] of [
        ['get_session', {session_id: 7}],
        ['get_session', {session_id: 'x', halt: true}],
        ['start_session', {agent_root: ['draft'], title: 'never'}],
        ['action_session', {action: 'dance', session_id: 'x'}],
      ] as const)
        expect(await here.call(door, tool, args)).toMatch(/^error: invalid_arguments: /);
    }
    // What is right leaves its trace, and nothing else is before it.
    expect(await here.call(doors[0], 'start_session', {agent_root: 'draft', title: 'fits'})).toContain('Started');
    await until(30_000, async () =>
      expect(await audit.requests(GATEWAY, place.namespace)).toEqual(['create sessions']),
    );
  });

  it('two credentials are refused, also when both are right', async () => {
    const key = keys.of('bot');
    for (const headers of [{'X-API-Key': key, authorization: `Bearer ${key}`}, {'X-API-Key': [key, key]}]) {
      expect(await list(headers)).toMatchObject({status: 401, json: {error: {data: {code: 'two_credentials'}}}});
    }
  });

  it('Z-083 the keys of starts are shared by all callers of a namespace', async () => {
    const start = {agent_root: 'draft', title: 'shared', idempotency_key: randomUUID()};
    const first = await bot.call(doors[0], 'start_session', start);
    const second = await keys.client('other').call(doors[1], 'start_session', start);
    expect(first).toContain('## Session Started');
    expect(second).toContain('Existing Session Returned (idempotency_key matched)');
    expect(field(second, 'ID')).toBe(field(first, 'ID'));
  });
});

describe('transport', () => {
  it('Z-004 initialize at one replica, tools/list at the other; no session id ever', async () => {
    const hello = {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 'test', version: '1'}};
    const answer = await bot.rpc(doors[0], 'initialize', hello);
    expect(answer.json).toMatchObject({result: {protocolVersion: '2025-11-25', serverInfo: {name: 'carrel'}}});
    const after = {...bot.headers, 'mcp-protocol-version': '2025-11-25'};
    const listed = await send(`${doors[1].url}/mcp`, {headers: after, body: rpc('tools/list')});
    expect(listed.status).toBe(200);
    expect(JSON.stringify(listed.json)).toContain('"name":"get_session"');
    for (const reply of [answer, listed]) expect(reply.headers['mcp-session-id']).toBeUndefined();
  });

  it('Z-003 Z-005 the request of plain curl is answered with one JSON body', async () => {
    const reply = await list({'X-API-Key': keys.of('bot'), accept: '*/*', 'user-agent': 'curl/8.0'});
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toContain('application/json');
    expect(reply.headers['mcp-session-id']).toBeUndefined();
  });

  it('Z-006 Z-007 GET and DELETE are 405 and end nothing', async () => {
    for (const method of ['GET', 'DELETE']) {
      const reply = await send(`${doors[0].url}/mcp`, {method, headers: bot.headers});
      expect([reply.status, reply.headers.allow]).toEqual([405, 'POST']);
    }
    expect(await bot.tools(doors[0])).toEqual(ALL);
  });

  it('Z-008 a batch is refused and nothing of it runs', async () => {
    const title = randomUUID();
    const start = rpc('tools/call', {name: 'start_session', arguments: {agent_root: 'draft', title}});
    expect(await list(bot.headers, [start, rpc('tools/list', {}, 2)])).toMatchObject({
      status: 400,
      json: {error: {code: -32600, data: {code: 'batch_refused'}}},
    });
    expect(await bot.call(doors[0], 'quick_search_sessions', {query: title})).toBe('No session found.');
  });

  it('Z-160 an unknown method is a JSON-RPC error', async () => {
    expect((await bot.rpc(doors[0], 'foo/bar')).json).toMatchObject({error: {code: -32601}});
  });

  it('Z-010 a foreign Host, a foreign Origin and the null Origin are refused; no Origin passes', async () => {
    const key = {'X-API-Key': keys.of('bot')};
    const refused = (code: string) => ({status: 403, json: {error: {data: {code}}}});
    expect(await list({...key, host: 'evil.example'})).toMatchObject(refused('host_not_allowed'));
    expect(await list({...key, origin: 'https://evil.example'})).toMatchObject(refused('origin_not_allowed'));
    expect(await list({...key, origin: 'null'})).toMatchObject(refused('origin_not_allowed'));
    expect(await list({...key, host: `carrel-gateway.${RELEASE_NAMESPACE}.svc:8080`})).toMatchObject({status: 200});
  });

  it('a body of more than 1 MiB is refused, whether it is announced or just comes', async () => {
    const large = rpc('tools/call', {name: 'get_session', arguments: {session_id: 'x'.repeat(1_100_000)}});
    expect(await list(bot.headers, large)).toMatchObject({
      status: 413,
      json: {error: {data: {code: 'body_too_large'}}},
    });
    expect(await list({...bot.headers, 'transfer-encoding': 'chunked'}, large)).toMatchObject({status: 413});
    expect(await bot.rest(doors[0], 'POST', '/sessions', large)).toMatchObject({
      status: 413,
      json: {code: 'body_too_large'},
    });
  });
});
