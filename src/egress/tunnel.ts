import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';

/** How much went through. */
export interface TunnelCount {
  readonly up: number;
  readonly down: number;
}

/**
 * Join two connections until both are closed. Each direction ends on its own, back pressure is passed on (nothing but the
 * sockets' own buffers lies between them), and silence in both directions for `idleMs` ends it.
 */
export function join(
  client: Duplex,
  upstream: Socket,
  {head, idleMs}: {head: Buffer; idleMs: number},
): Promise<TunnelCount> {
  return new Promise((resolve) => {
    const cut = () => {
      client.destroy();
      upstream.destroy();
    };
    upstream.setTimeout(idleMs, cut);
    client.on('error', cut);
    upstream.on('error', cut);
    client.on('close', () => {
      // An orderly end was passed on by pipe; only a broken connection has to be.
      if (!client.readableEnded || !client.writableFinished) upstream.destroy();
    });
    upstream.on('close', () => {
      if (!upstream.readableEnded) client.destroy();
      resolve({up: upstream.bytesWritten, down: upstream.bytesRead});
    });
    if (head.length > 0) upstream.write(head);
    client.pipe(upstream);
    upstream.pipe(client);
  });
}
