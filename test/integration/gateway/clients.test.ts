import {Client as ModernClient, StreamableHTTPClientTransport as ModernTransport} from '@modelcontextprotocol/client';
import {Client as V1Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StreamableHTTPClientTransport as V1Transport} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {forwardGateway, type GatewayAccess} from '../../../hack/gateway.ts';
import {openRelease, Place} from '../../support/release.ts';
import {EVERYTHING, makeAccount, tokenOf} from './door.ts';

const ALL = ['action_session', 'get_session', 'get_transcript_archive', 'quick_search_sessions', 'start_session'];

let place: Place;
let access: GatewayAccess;
let url: URL;
let requestInit: {headers: Record<string, string>};

beforeAll(async () => {
  place = await Place.make(await openRelease(), 'clients');
  access = await forwardGateway(place.release.cluster);
  await makeAccount(place, 'caller', EVERYTHING);
  await place.agent('draft', {draft: true});
  await place.session('one', {agent: 'draft', title: 'One'});
  // What a person writes into the configuration of a client: an address and one header.
  url = new URL(`${access.url}/mcp`);
  requestInit = {headers: {authorization: `Bearer ${await tokenOf(place, 'caller')}`}};
});
afterAll(async () => {
  access?.close();
  await place?.remove();
});

describe('Z-002 official clients, through the Service', () => {
  it.each([
    ['2026-07-28', {versionNegotiation: {mode: 'auto'}} as const],
    ['2025-11-25', {}],
  ])('the v2 client speaking %s', async (_, options) => {
    const client = new ModernClient({name: 'test', version: '1'}, options);
    const transport = new ModernTransport(url, {requestInit});
    await client.connect(transport);
    expect((await client.listTools()).tools.map((t) => t.name).sort()).toEqual(ALL);
    const shown = await client.callTool({name: 'get_session', arguments: {session_id: 'one'}});
    expect(JSON.stringify(shown.content)).toContain('### Session Hierarchy');
    const unknown = await client.callTool({name: 'get_session', arguments: {session_id: 'nobody'}});
    expect(unknown.isError).toBe(true);
    await expect(client.callTool({name: 'ask_user', arguments: {question: 'who?'}})).rejects.toThrow(/not found/);
    expect(transport.sessionId).toBeUndefined();
    await client.close();
  });

  it('the v1 client', async () => {
    const client = new V1Client({name: 'test', version: '1'});
    const transport = new V1Transport(url, {requestInit});
    await client.connect(transport);
    expect((await client.listTools()).tools.map((t) => t.name).sort()).toEqual(ALL);
    const shown = await client.callTool({name: 'get_session', arguments: {session_id: 'one'}});
    expect(JSON.stringify(shown.content)).toContain('- ID: one');
    await expect(client.callTool({name: 'ask_user', arguments: {question: 'who?'}})).rejects.toThrow(/not found/);
    expect(transport.sessionId).toBeUndefined();
    await client.close();
  });

  it('a wrong credential is an error of the connection', async () => {
    const client = new V1Client({name: 'test', version: '1'});
    const wrong = {headers: {'X-API-Key': 'no-such-key'}};
    await expect(client.connect(new V1Transport(url, {requestInit: wrong}))).rejects.toThrow();
  });
});
