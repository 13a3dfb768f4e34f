import {createServer as createHttp, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import {createServer as createTcp, type AddressInfo, type Server as TcpServer} from 'node:net';
import {type Clock, pause} from '../kube/clock.ts';
import {sendJson} from './http/reply.ts';

/** What the ports serve. */
export interface ServerParts {
  readonly listener: (req: IncomingMessage, res: ServerResponse) => void;
  /** True when requests can be answered. */
  readonly ready: () => boolean;
  readonly metrics: () => Promise<string>;
  /** Called once at the start of a stop: ends long waits and streams. */
  readonly stop: () => void;
  readonly ports: {readonly main: number; readonly canary: number; readonly health: number};
  readonly clock: Clock;
  /** Time for Endpoints to forget this replica before connections are refused. */
  readonly lameDuckMs: number;
  /** Longest wait for requests in flight. */
  readonly drainMs: number;
}

/** A gateway that listens. */
export interface RunningServer {
  /** Ports as bound; useful when 0 was asked for. */
  readonly ports: {readonly main: number; readonly canary: number; readonly health: number};
  /** Readiness off, lame duck, drain, close; resolves when all is closed. */
  stop(): Promise<void>;
}

/** Listen on the main port, the canary (which accepts and closes; no policy allows it) and the health port. */
export async function startServer(parts: ServerParts): Promise<RunningServer> {
  let stopping = false;
  const main = createHttp({headersTimeout: 15_000, requestTimeout: 30_000, keepAliveTimeout: 65_000, maxHeaderSize: 32_768}, parts.listener);
  const canary = createTcp((socket) => {
    socket.on('error', () => undefined);
    socket.end();
  });
  const health = createHttp((req, res) => serveHealth({...parts, ready: () => !stopping && parts.ready()}, req, res));
  const bound = {
    main: await listen(main, parts.ports.main),
    canary: await listen(canary, parts.ports.canary),
    health: await listen(health, parts.ports.health),
  };
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    stopping = true;
    await pause(parts.clock, parts.lameDuckMs);
    parts.stop();
    const closed = close(main);
    main.closeIdleConnections();
    await Promise.race([closed, pause(parts.clock, parts.drainMs)]);
    main.closeAllConnections();
    await Promise.all([closed, close(canary), closeNow(health)]);
  };
  return {ports: bound, stop: () => (stopped ??= stop())};
}

function serveHealth(parts: Pick<ServerParts, 'ready' | 'metrics'>, req: IncomingMessage, res: ServerResponse): void {
  const path = req.url?.split('?')[0];
  if (path === '/healthz') return sendJson(res, 200, {status: 'ok'});
  if (path === '/readyz') {
    const ready = parts.ready();
    return sendJson(res, ready ? 200 : 503, {status: ready ? 'ready' : 'not ready'});
  }
  if (path !== '/metrics') return sendJson(res, 404, {status: 'not found'});
  parts.metrics().then(
    (text) => {
      res.writeHead(200, {'content-type': 'text/plain; version=0.0.4; charset=utf-8'});
      res.end(text);
    },
    () => sendJson(res, 500, {status: 'metrics failed'}),
  );
}

function listen(server: Server | TcpServer, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, () => {
      server.removeListener('error', reject);
      const address: AddressInfo | string | null = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function close(server: Server | TcpServer): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function closeNow(server: Server): Promise<void> {
  const closed = close(server);
  server.closeAllConnections();
  return closed;
}
