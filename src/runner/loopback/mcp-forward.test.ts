import {once} from 'node:events';
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import {connect} from 'node:net';
import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';
import {eventually} from '../../../test/support/eventually.ts';
import {ATTEMPT_KEY, startTestLoopback, type TestLoopback} from '../../../test/support/loopback.ts';
import {sendRaw} from '../../../test/support/raw-http.ts';

interface SeenCall {
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

let gateway: Server;
let seen: SeenCall[];
let respond: (body: string, response: ServerResponse, request: IncomingMessage) => void;
let test: TestLoopback;

beforeEach(async () => {
  seen = [];
  respond = (body, response) => {
    response.writeHead(200, {'content-type': 'application/json', 'x-internal': 'secret'});
    response.end(JSON.stringify({jsonrpc: '2.0', id: JSON.parse(body).id ?? null, result: {}}));
  };
  gateway = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const body = Buffer.concat(chunks).toString();
    seen.push({url: request.url, headers: request.headers, body});
    respond(body, response, request);
  });
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  test = await startTestLoopback({gatewayPort: portOf(gateway)});
});

afterEach(async () => {
  await test.close();
  gateway.closeAllConnections();
  gateway.close();
});

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

function call(method: string, more: {headers?: Record<string, string>; signal?: AbortSignal; id?: number} = {}) {
  return fetch(test.loopback.mcpUrl, {
    method: 'POST',
    headers: {authorization: `Bearer ${test.loopback.mcpToken}`, ...more.headers},
    body: JSON.stringify({jsonrpc: '2.0', id: more.id ?? 1, method}),
    ...(more.signal ? {signal: more.signal} : {}),
  });
}

describe('an MCP call', () => {
  it('goes to the gateway with the token of the session and rebuilt headers', async () => {
    const reply = await call('tools/call', {
      headers: {'mcp-protocol-version': '2025-11-25', 'mcp-method': 'tools/call', 'x-carrel-session': 'other'},
    });
    expect(await reply.json()).toEqual({jsonrpc: '2.0', id: 1, result: {}});
    expect(reply.headers.get('x-internal')).toBeNull();
    expect(seen[0]?.url).toBe('/mcp');
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer token-of-mcp',
      'mcp-protocol-version': '2025-11-25',
      'mcp-method': 'tools/call',
    });
    expect(Object.keys(seen[0]?.headers ?? {})).not.toContain('x-carrel-session');
  });

  it('is seen when it lists the tools, again after each start of the agent', async () => {
    const listed = vi.fn();
    const stop = test.loopback.onToolsListed(listed);
    expect(test.loopback.toolsListed()).toBe(false);
    await (await call('initialize')).json();
    expect(test.loopback.toolsListed()).toBe(false);
    await (await call('tools/list')).json();
    expect(test.loopback.toolsListed()).toBe(true);
    expect(listed).toHaveBeenCalledOnce();
    test.loopback.forgetTools();
    expect(test.loopback.toolsListed()).toBe(false);
    stop();
    await (await call('tools/list')).json();
    expect(listed).toHaveBeenCalledOnce();
  });

  it('without an effect is tried again when a gateway dies before it answers', async () => {
    let times = 0;
    const fine = respond;
    respond = (body, response, request) => {
      times += 1;
      if (times < 3) request.socket.destroy();
      else fine(body, response, request);
    };
    expect(await (await call('tools/list')).json()).toMatchObject({result: {}});
    expect(times).toBe(3);
  });

  it('with an effect is sent once, and the answer says that it may have happened', async () => {
    respond = (_body, _response, request) => request.socket.destroy();
    const reply = await call('tools/call', {id: 7});
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({
      id: 7,
      error: {message: expect.stringContaining('may have taken effect')},
    });
    expect(seen).toHaveLength(1);
  });

  it('with an effect is sent again after a 503 of the gateway itself: it refuses so before any tool runs', async () => {
    respond = (_body, response) => {
      const status = seen.length < 3 ? 503 : 200;
      response
        .writeHead(status, {'content-type': 'application/json', 'carrel-effect': 'none'})
        .end(JSON.stringify({status}));
    };
    const reply = await call('tools/call');
    expect(await reply.json()).toEqual({status: 200});
    expect(seen).toHaveLength(3);
  });

  it.each([502, 503, 504])(
    'with an effect is sent once, and %i is handed on: somebody between may have passed it on',
    async (status) => {
      respond = (_body, response) => void response.writeHead(status).end();
      expect((await call('tools/call')).status).toBe(status);
      expect(seen).toHaveLength(1);
    },
  );

  it('to a gateway that refuses connections says that nothing was done', async () => {
    await test.close();
    test = await startTestLoopback({gatewayPort: 1});
    expect(await (await call('tools/call')).json()).toMatchObject({
      error: {message: expect.stringContaining('try again')},
    });
  });

  it('that the agent gives up is given up at the gateway too', async () => {
    const abort = new AbortController();
    const dropped = new Promise<void>((resolve) => {
      respond = (_body, _response, request) => {
        request.socket.once('close', () => resolve());
        abort.abort();
      };
    });
    await expect(call('tools/call', {signal: abort.signal})).rejects.toThrow();
    await dropped;
  });

  it('that the gateway refuses with 401 becomes an error of the call, not a login', async () => {
    respond = (_body, response) => {
      response.writeHead(401, {'www-authenticate': 'Bearer resource_metadata="http://evil.example"'});
      response.end();
    };
    const reply = await call('tools/list');
    expect(reply.status).toBe(200);
    expect(reply.headers.get('www-authenticate')).toBeNull();
    expect(test.loopback.toolsListed()).toBe(false);
  });

  it('with an event stream as its answer is passed on while it comes', async () => {
    respond = (_body, response) => {
      response.writeHead(200, {'content-type': 'text/event-stream'});
      response.write('data: first\n\n');
    };
    const reply = await call('tools/call');
    const reader = reply.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: first\n\n');
    await reader?.cancel();
  });
});

describe('an attack on the MCP endpoint', () => {
  it.each<[string, string, Record<string, string>, number]>([
    ['no key', 'POST', {authorization: ''}, 401],
    ['a wrong key', 'POST', {authorization: 'Bearer guess'}, 401],
    ['the key without its scheme', 'POST', {authorization: ATTEMPT_KEY}, 401],
    ['a second credential', 'POST', {'x-api-key': ATTEMPT_KEY}, 401],
    ['a foreign Host', 'POST', {host: 'carrel.evil.example'}, 421],
    ['an Origin', 'POST', {origin: 'https://evil.example'}, 403],
    ['GET', 'GET', {'content-length': ''}, 405],
    ['DELETE', 'DELETE', {'content-length': ''}, 405],
    ['a large body', 'POST', {'content-length': '1048577'}, 413],
  ])('%s is refused', async (_name, method, lines, status) => {
    const headers = {
      host: `127.0.0.1:${test.port}`,
      authorization: `Bearer ${ATTEMPT_KEY}`,
      'content-length': '2',
      connection: 'close',
      ...lines,
    };
    const text = Object.entries(headers)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    const reply = await sendRaw(test.port, `${method} /mcp HTTP/1.1\r\n${text}\r\n${method === 'POST' ? '{}' : ''}`);
    expect(reply.status).toBe(status);
    expect(seen).toEqual([]);
  });

  it('of many large bodies at once is refused before they fill the memory, and small calls come back after it', async () => {
    const head = (length: number) =>
      `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${test.port}\r\nauthorization: Bearer ${ATTEMPT_KEY}\r\ncontent-length: ${length}\r\n\r\n`;
    const held = Array.from({length: 16}, () => connect(test.port, '127.0.0.1').on('error', () => {}));
    for (const socket of held) socket.write(head(1 << 20));
    await eventually(async () => expect((await sendRaw(test.port, `${head(1 << 20)}`)).status).toBe(429));
    expect(seen).toEqual([]);
    for (const socket of held) socket.destroy();
    await eventually(async () => expect((await call('tools/list')).status).toBe(200));
  });

  it.each(['/mcp/', '/mcp?namespace=other', '/mcp/other', '/', '/runner/v1/desired'])(
    '%s leads nowhere',
    async (path) => {
      const reply = await fetch(`http://127.0.0.1:${test.port}${path}`, {
        method: 'POST',
        headers: {authorization: `Bearer ${ATTEMPT_KEY}`},
      });
      expect(reply.status).toBe(404);
      expect(seen).toEqual([]);
    },
  );
});
