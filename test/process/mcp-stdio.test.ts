import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {createServer, type Server} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport} from '@modelcontextprotocol/sdk/client/stdio.js';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest';
import {z} from 'zod';
import {ROOT} from '../../hack/image/build.ts';
import {bundle, processEntries} from '../../hack/image/bundle.ts';
import {markModule} from '../../hack/image/runtime.ts';
import {AGENT_ENV, ENTRY} from '../../src/api/pod.ts';
import {startTestLoopback, type TestLoopback} from '../support/loopback.ts';

let folder: string;
let entry: string;
let gateway: Server;
let asked: {token: string | undefined; version: string | undefined; method: string}[];
let test: TestLoopback;

const Port = z.object({port: z.number()});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carrel-bridge-'));
  // As the image does it: the file that runs in the agent's container.
  await bundle(await processEntries(ROOT), folder);
  await markModule(folder);
  entry = join(folder, ENTRY.mcpStdio);
});
afterAll(() => rm(folder, {recursive: true, force: true}));

beforeEach(async () => {
  asked = [];
  gateway = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const {id, method, params} = JSON.parse(body);
    const version = request.headers['mcp-protocol-version']?.toString();
    asked.push({token: request.headers.authorization, version, method});
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, object> = {
      initialize: {protocolVersion: '2025-11-25', capabilities: {tools: {}}, serverInfo: {name: 'x', version: '1'}},
      'tools/list': {tools: [{name: 'get_session', inputSchema: {type: 'object'}}]},
      'tools/call': {content: [{type: 'text', text: `did ${params?.name}`}]},
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({jsonrpc: '2.0', id, result: results[method]}));
  });
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  test = await startTestLoopback({gatewayPort: Port.parse(gateway.address()).port});
});
afterEach(async () => {
  await test.close();
  gateway.closeAllConnections();
  gateway.close();
});

const environment = () => ({
  [AGENT_ENV.mcpUrl]: test.loopback.mcpUrl,
  [AGENT_ENV.mcpToken]: test.loopback.mcpToken,
  // What an agent's process has, and the bridge must not follow.
  NODE_USE_ENV_PROXY: '1',
  HTTP_PROXY: 'http://127.0.0.1:1',
  NODE_OPTIONS: '',
});

function start(env: Record<string, string>): ChildProcess & {said: string} {
  const child = spawn(process.execPath, [entry], {env, stdio: ['pipe', 'pipe', 'pipe']});
  const told = Object.assign(child, {said: ''});
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (told.said += String(data)));
  return told;
}

describe('the stdio bridge, before the loopback endpoint', () => {
  it('gives an MCP client over stdio the tools of the session, with the token that it never sees', async () => {
    const client = new Client({name: 'test', version: '1'});
    await client.connect(new StdioClientTransport({command: process.execPath, args: [entry], env: environment()}));
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['get_session']);
    expect(await client.callTool({name: 'get_session', arguments: {}})).toMatchObject({
      content: [{type: 'text', text: 'did get_session'}],
    });
    await client.close();
    expect(asked.map(({method, version}) => [method, version])).toEqual([
      ['initialize', undefined],
      ['notifications/initialized', '2025-11-25'],
      ['tools/list', '2025-11-25'],
      ['tools/call', '2025-11-25'],
    ]);
    expect(new Set(asked.map(({token}) => token))).toEqual(new Set(['Bearer token-of-mcp']));
    expect(test.loopback.toolsListed()).toBe(true);
  });

  it('answers with JSON-RPC errors when its key is not that of the attempt, and ends with its input', async () => {
    const child = start({...environment(), [AGENT_ENV.mcpToken]: 'stolen-elsewhere'});
    child.stdin?.end('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(child.said).toContain('"id":1,"error":{"code":-32000,"message":"use the key that this attempt got');
    expect(child.said).not.toContain('stolen-elsewhere');
    expect(asked).toEqual([]);
  });

  it('says what it misses where it is started without its settings', async () => {
    const child = start({});
    expect(await once(child, 'close')).toEqual([2, null]);
    expect(child.said).toContain(`${AGENT_ENV.mcpUrl} must be the http URL`);
  });
});
