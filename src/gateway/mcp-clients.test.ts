import {Client as ModernClient, StreamableHTTPClientTransport as ModernTransport} from '@modelcontextprotocol/client';
import {Client as V1Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StreamableHTTPClientTransport as V1Transport} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {type GatewayFixture, KEY, startGatewayFixture} from '../../test/support/gateway-fixture.ts';

let fixture: GatewayFixture;
let sessionToken: string;

beforeAll(async () => {
  fixture = await startGatewayFixture();
  fixture.addAgent('writer', ['self_session', 'ask']);
  sessionToken = fixture.addRunning('one', 'writer').token;
  await fixture.settle();
});
afterAll(() => fixture.close());

const key = {'X-API-Key': KEY};
const SESSIONS = ['action_session', 'get_session', 'get_transcript_archive', 'quick_search_sessions', 'start_session'];

describe('clients', () => {
  test('a client of 2026-07-28 lists and calls tools', async () => {
    const client = new ModernClient({name: 't', version: '1'}, {versionNegotiation: {mode: 'auto'}});
    await client.connect(new ModernTransport(new URL(`${fixture.url}/mcp`), {requestInit: {headers: key}}));
    expect((await client.listTools()).tools.map((t) => t.name).sort()).toEqual(SESSIONS);
    const result = await client.callTool({name: 'get_session', arguments: {session_id: 'one'}});
    expect(JSON.stringify(result.content)).toContain('### Session Hierarchy');
    await client.close();
  });

  test('a client of the v2 SDK that speaks 2025-11-25 lists and calls tools', async () => {
    const client = new ModernClient({name: 't', version: '1'});
    await client.connect(new ModernTransport(new URL(`${fixture.url}/mcp`), {requestInit: {headers: key}}));
    expect((await client.listTools()).tools.map((t) => t.name).sort()).toEqual(SESSIONS);
    await client.close();
  });

  test('a client of the v1 SDK lists and calls tools with a session token', async () => {
    const client = new V1Client({name: 't', version: '1'});
    const headers = {authorization: `Bearer ${sessionToken}`};
    await client.connect(new V1Transport(new URL(`${fixture.url}/mcp`), {requestInit: {headers}}));
    expect((await client.listTools()).tools.map((t) => t.name).sort()).toEqual([
      'action_session',
      'ask_user',
      'get_session',
    ]);
    const result = await client.callTool({name: 'get_session', arguments: {}});
    expect(JSON.stringify(result.content)).toContain('- ID: one');
    await client.close();
  });
});
