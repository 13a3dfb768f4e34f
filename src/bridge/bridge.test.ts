import {once} from 'node:events';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import {PassThrough} from 'node:stream';
import {afterEach, expect, test, vi} from 'vitest';
import {z} from 'zod';
import {eventually} from '../../test/support/eventually.ts';
import {MAX_MCP_MESSAGE} from '../api/wire/mcp.ts';
import {Bridge} from './bridge.ts';

type Serve = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const Port = z.object({port: z.number()});
const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

/** A bridge before a server that answers so. */
async function start(serve: Serve) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    serve(request, response, body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endings.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const {port} = Port.parse(server.address());
  const input = new PassThrough();
  const output = new PassThrough();
  const lines: string[] = [];
  let kept = '';
  output.on('data', (chunk) => {
    const parts = (kept + String(chunk)).split('\n');
    kept = parts.pop() ?? '';
    lines.push(...parts);
  });
  const said: string[] = [];
  const endpoint = {url: new URL(`http://127.0.0.1:${port}/mcp`), key: 'attempt-key'};
  const ended = new Bridge({endpoint, input, output, say: (text) => void said.push(text)}).run();
  const send = (message: object | string) =>
    input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  const answers = () => lines.map((line): unknown => JSON.parse(line));
  return {input, send, answers, lines, said, ended, server};
}

const json = (response: ServerResponse, body: string, status = 200) =>
  response.writeHead(status, {'content-type': 'application/json'}).end(body);

const request = (id: number, method = 'tools/list', params: object = {}) => ({jsonrpc: '2.0', id, method, params});

test('each line is one POST with the key of the attempt, and each reply is one line', async () => {
  const seen: {key: string | undefined; body: string}[] = [];
  const {send, answers, lines} = await start((incoming, response, body) => {
    seen.push({key: incoming.headers.authorization, body});
    json(response, JSON.stringify({jsonrpc: '2.0', id: JSON.parse(body).id, result: {text: 'a\nb'}}, null, 2));
  });
  const big = '{"jsonrpc":"2.0","id":7,"method":"ping","params":{"n":12345678901234567890}}';
  send(big);
  await eventually(() => expect(answers()).toEqual([{jsonrpc: '2.0', id: 7, result: {text: 'a\nb'}}]));
  expect(lines).toHaveLength(1);
  expect(seen).toEqual([{key: 'Bearer attempt-key', body: big}]);
});

test('notifications get no line, and events of a stream one each', async () => {
  const {send, answers} = await start((_incoming, response, body) => {
    if (body.includes('notifications/initialized')) return void response.writeHead(202).end();
    response.writeHead(200, {'content-type': 'text/event-stream'});
    response.write(
      'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n: still\n\n',
    );
    response.end('data: {"jsonrpc":"2.0","id":1,\ndata: "result":{}}\n\n');
  });
  send({jsonrpc: '2.0', method: 'notifications/initialized'});
  send(request(1, 'tools/call'));
  await eventually(() =>
    expect(answers()).toEqual([
      {jsonrpc: '2.0', method: 'notifications/progress', params: {}},
      {jsonrpc: '2.0', id: 1, result: {}},
    ]),
  );
});

test('the protocol version goes into headers as over HTTP: agreed upon once, or said by each message', async () => {
  const headers: object[] = [];
  const {send, answers} = await start((incoming, response, body) => {
    const {'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': name} = incoming.headers;
    headers.push({version, method, name});
    const {id} = JSON.parse(body);
    json(response, JSON.stringify({jsonrpc: '2.0', id, result: {protocolVersion: '2025-06-18'}}));
  });
  const told = async (count: number) => eventually(() => expect(answers()).toHaveLength(count));
  send(request(1, 'initialize', {protocolVersion: '2025-11-25'}));
  await told(1);
  send(request(2));
  await told(2);
  const _meta = {'io.modelcontextprotocol/protocolVersion': '2026-07-28'};
  send(request(3, 'tools/call', {name: 'ask_user', _meta}));
  await told(3);
  expect(headers).toEqual([
    {},
    {version: '2025-06-18'},
    {version: '2026-07-28', method: 'tools/call', name: 'ask_user'},
  ]);
});

test('a refusal becomes the JSON-RPC error of its request', async () => {
  const {send, answers, said} = await start((_incoming, response) =>
    json(response, '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"use the key"}}', 401),
  );
  send(request(5));
  send({jsonrpc: '2.0', method: 'notifications/initialized'});
  await eventually(() => expect(said).toHaveLength(2));
  expect(answers()).toEqual([{jsonrpc: '2.0', id: 5, error: {code: -32_000, message: 'use the key'}}]);
  expect(said.join()).not.toContain('attempt-key');
});

test('an endpoint that does not answer, cuts the reply or says nothing is a JSON-RPC error', async () => {
  const {send, answers, server} = await start((_incoming, response, body) => {
    if (body.includes('cut')) {
      response.writeHead(200, {'content-type': 'application/json', 'content-length': '100'});
      return void response.write('{"jsonrpc"', () => response.destroy());
    }
    response.writeHead(202).end();
  });
  send(request(1, 'cut'));
  await eventually(() => expect(answers()).toHaveLength(1));
  send(request(2, 'quiet'));
  await eventually(() => expect(answers()).toHaveLength(2));
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  send(request(3));
  await eventually(() => expect(answers()).toHaveLength(3));
  const error = (message: string) => ({code: -32_000, message: expect.stringContaining(message)});
  expect(answers()).toEqual([
    {jsonrpc: '2.0', id: 1, error: error('did not answer (aborted)')},
    {jsonrpc: '2.0', id: 2, error: error('202')},
    {jsonrpc: '2.0', id: 3, error: error('ECONNREFUSED')},
  ]);
});

test('what is no message, or too large, is refused by its id where it has one, and the next line is served', async () => {
  const {send, answers} = await start((_incoming, response) => json(response, '{"jsonrpc":"2.0","id":3,"result":{}}'));
  send('hello');
  send('');
  send(request(1, 'x', {text: 'y'.repeat(MAX_MCP_MESSAGE)}));
  send(request(2, 'x', {text: 'y'.repeat(4 * MAX_MCP_MESSAGE)}));
  send(request(3));
  await eventually(() => expect(answers()).toHaveLength(4));
  expect(answers()).toMatchObject([
    {id: null, error: {code: -32_700}},
    {id: 1, error: {code: -32_600}},
    {id: null, error: {code: -32_600}},
    {id: 3, result: {}},
  ]);
});

test('a cancelled call is cut off at the endpoint and gets no reply', async () => {
  const came = vi.fn();
  const cut = vi.fn();
  const {send, answers} = await start((_incoming, response, body) => {
    if (body.includes('notifications/cancelled')) return void response.writeHead(202).end();
    if (body.includes('slow')) {
      came();
      return void response.once('close', cut);
    }
    json(response, '{"jsonrpc":"2.0","id":2,"result":{}}');
  });
  send(request(1, 'slow'));
  await eventually(() => expect(came).toHaveBeenCalled());
  send({jsonrpc: '2.0', method: 'notifications/cancelled', params: {requestId: 1}});
  await eventually(() => expect(cut).toHaveBeenCalled());
  send(request(2));
  await eventually(() => expect(answers()).toEqual([{jsonrpc: '2.0', id: 2, result: {}}]));
});

test('it ends with its input: what is under way has a moment, and no more', async () => {
  const {send, input, answers, ended} = await start((_incoming, response, body) => {
    if (body.includes('quick')) json(response, '{"jsonrpc":"2.0","id":1,"result":{}}');
  });
  send(request(1, 'quick'));
  send(request(2, 'never'));
  input.end();
  await ended;
  expect(answers()).toEqual([{jsonrpc: '2.0', id: 1, result: {}}]);
});
