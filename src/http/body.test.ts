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
