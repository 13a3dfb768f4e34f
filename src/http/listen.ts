import type {Server as HttpServer} from 'node:http';
import type {Server} from 'node:net';

/** Listen on all addresses (or on `host`); resolves to the port, rejects when it cannot be had. */
export function listen(server: Server, port: number, host?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({port, ...(host === undefined ? {} : {host})}, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** Take no new connection, let requests in flight end for at most `graceMs`, then cut what is left. */
export function closeGracefully(server: HttpServer, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
