import {connect, createServer, type Socket} from 'node:net';
import {type Connection, connectWith} from '../../src/kube/connection.ts';

/** A wire between a client and the API server that can be cut, and frozen without anybody noticing. */
export interface TcpLink {
  /** The server, reached over this wire. */
  readonly connection: Connection;
  /** Break what is open, refuse what is new. */
  cut(): void;
  /** Keep everything open, carry no byte. */
  freeze(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Put a wire in front of a server whose certificate is also good for 127.0.0.1. */
export async function startTcpLink(target: Connection): Promise<TcpLink> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let state: 'open' | 'cut' | 'frozen' = 'open';
  const server = createServer((near) => {
    if (state === 'cut') return void near.destroy();
    const far = connect(Number(target.server.port || 443), target.server.hostname);
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on('data', (bytes) => {
        if (state !== 'frozen') to.write(bytes);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const connection = connectWith(new URL(`https://127.0.0.1:${port}`), target.credentials());
  const breakAll = () => {
    for (const [near] of pairs) near.destroy();
  };
  return {
    connection,
    cut() {
      state = 'cut';
      breakAll();
    },
    freeze() {
      state = 'frozen';
    },
    restore() {
      // Bytes were lost while frozen: such a connection is of no more use.
      if (state === 'frozen') breakAll();
      state = 'open';
    },
    async close() {
      connection.close();
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
