import {createServer, type Server} from 'node:http';
import {afterAll, beforeAll, expect, it} from 'vitest';
import {sendRaw} from '../../test/support/raw-http.ts';
import {listen} from './listen.ts';
import {bearerOf, sendJson} from './reply.ts';

let server: Server;
let port: number;

beforeAll(async () => {
  server = createServer((request, response) => {
    response.setHeader('connection', 'close').end(bearerOf(request) ?? 'none');
  });
  port = await listen(server, 0, '127.0.0.1');
});
afterAll(() => void server.close());

it.each([
  ['one token', ['Authorization: Bearer abc.def'], 'abc.def'],
  ['the scheme in small letters', ['authorization: bearer abc'], 'abc'],
  ['nothing', [], 'none'],
  ['another scheme', ['Authorization: Basic abc'], 'none'],
  ['two tokens', ['Authorization: Bearer abc', 'Authorization: Bearer def'], 'none'],
  ['the same token twice', ['Authorization: Bearer abc', 'Authorization: Bearer abc'], 'none'],
  ['two tokens in one header', ['Authorization: Bearer abc, Bearer def'], 'none'],
  ['a token and a key', ['Authorization: Bearer abc', 'X-API-Key: def'], 'none'],
  ['a token and an empty key', ['Authorization: Bearer abc', 'X-API-Key:'], 'none'],
  ['a key alone', ['X-API-Key: abc'], 'none'],
])('exactly one credential is taken: %s', async (_name, lines, token) => {
  const reply = await sendRaw(port, ['GET / HTTP/1.1', 'Host: x', ...lines, '', ''].join('\r\n'));
  expect(reply.body).toBe(token);
});

it.each([
  [200, 'keep-alive'],
  [429, 'keep-alive'],
  [503, 'close'],
])('after %i the connection is to %s: another one may lead to a replica that can', async (status, connection) => {
  const answering = createServer((_request, response) => sendJson(response, status, {}));
  const reply = await fetch(`http://127.0.0.1:${await listen(answering, 0, '127.0.0.1')}/`);
  expect([reply.status, reply.headers.get('connection')]).toEqual([status, connection]);
  answering.close();
  answering.closeAllConnections();
});
