import {once} from 'node:events';
import {createServer, request} from 'node:http';
import type {AddressInfo} from 'node:net';
import {expect, test} from 'vitest';
import {z} from 'zod';
import {BodyTooLarge, readBody} from './body.ts';

const Address = z.custom<AddressInfo>((value) => typeof value === 'object' && value !== null && 'port' in value);

test('T35 a body that grows past the limit is refused while it is still coming, and the refusal arrives', async () => {
  const server = createServer((req, res) => {
    readBody(req, 1024).then(
      () => res.writeHead(200).end(),
      (error: unknown) => res.writeHead(error instanceof BodyTooLarge ? 413 : 500).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = Address.parse(server.address());
  const headers = {'transfer-encoding': 'chunked'};
  const sent = request({port, host: '127.0.0.1', method: 'POST', headers});
  // Far more than socket buffers hold: a server that just closed would reset the connection under the client's writes.
  sent.end('x'.repeat(16_000_000));
  const [response] = await once(sent, 'response');
  expect(response).toMatchObject({statusCode: 413});
  response.resume();
  // Rejects when the connection was reset.
  await once(sent, 'close');
  server.close();
  server.closeAllConnections();
});

test.each([
  ['while it is read', 0],
  ['before it is read', 1],
])('a client that leaves in the middle of its body, %s, ends the reading', async (_, closed) => {
  const outcome = Promise.withResolvers<unknown>();
  const server = createServer((req) => {
    // The reading begins at once, or only when the client is gone.
    const begin = closed === 1 ? once(req, 'close') : Promise.resolve();
    req.on('error', () => undefined);
    begin.then(() => readBody(req, 1024)).then(outcome.resolve, outcome.reject);
    if (closed === 1) leaving.destroy();
    else req.once('data', () => leaving.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = Address.parse(server.address());
  const leaving = request({port, host: '127.0.0.1', method: 'POST', headers: {'content-length': '10'}});
  leaving.on('error', () => undefined);
  leaving.write('half');
  await expect(outcome.promise).rejects.toThrow();
  server.close();
  server.closeAllConnections();
});
