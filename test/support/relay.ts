import {createServer} from 'node:http';
import {connect, type Socket} from 'node:net';

/** A CONNECT request that the test relay saw. */
export interface SeenConnect {
  target: string;
  authorization: string | undefined;
  purpose: string | string[] | undefined;
}

/** The running test relay. */
export interface TestRelay {
  host: string;
  port: number;
  seen: SeenConnect[];
  close(): Promise<void>;
}

/** A CONNECT relay that sends every allowed target to one local port, whatever its name. */
export async function startTestRelay(routes: ReadonlyMap<string, number>): Promise<TestRelay> {
  const seen: SeenConnect[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('connect', (request, client, head) => {
    const target = request.url ?? '';
    const {'proxy-authorization': authorization, 'carrel-purpose': purpose} = request.headers;
    seen.push({target, authorization, purpose});
    client.on('error', () => client.destroy());
    const port = routes.get(target);
    if (port === undefined) {
      client.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 11\r\n\r\nnot allowed');
      return;
    }
    const upstream = connect({host: '127.0.0.1', port}, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    sockets.add(upstream);
    upstream.on('error', () => client.destroy());
    client.on('close', () => {
      if (!client.readableEnded || !client.writableFinished) upstream.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    host: '127.0.0.1',
    port: typeof address === 'object' && address !== null ? address.port : 0,
    seen,
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      });
    },
  };
}
