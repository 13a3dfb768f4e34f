import {createServer as createHttp, type IncomingMessage, type ServerResponse} from 'node:http';
import {createServer as createTcp} from 'node:net';
import {createHealthServer} from '../http/health.ts';
import {closeGracefully, listen} from '../http/listen.ts';
import {type Clock, pause} from '../kube/clock.ts';

/** What the ports serve. */
export interface ServerParts {
  readonly listener: (req: IncomingMessage, res: ServerResponse) => void;
  /** Undefined when requests can be answered; otherwise why not. */
  readonly ready: () => string | undefined;
  readonly metrics: () => Promise<string>;
  /** Called once when connections are refused from now on: ends long waits and streams. */
  readonly endWaits: () => void;
  readonly ports: Ports;
  readonly clock: Clock;
  /** Time for Endpoints to forget this replica before connections are refused. */
  readonly lameDuckMs: number;
  /** Longest wait for requests in flight. */
  readonly drainMs: number;
}

/** The main port, the one that no network policy allows, and health. */
export interface Ports {
  readonly main: number;
  readonly canary: number;
  readonly health: number;
}

/** A gateway that listens. */
export interface RunningServer {
  /** Ports as bound; of use when 0 was asked for. */
  readonly ports: Ports;
  /** Readiness off, lame duck, drain, close; resolves when all is closed. */
  stop(): Promise<void>;
}

/** Limits against slow senders; a runner's stream is a reply, so they do not touch it. */
const HTTP = {headersTimeout: 15_000, requestTimeout: 30_000, keepAliveTimeout: 65_000, maxHeaderSize: 32_768} as const;

/** Listen on all ports. The canary accepts and closes: it shows a pod whether the network policy holds. */
export async function startServer(parts: ServerParts): Promise<RunningServer> {
  let stopping = false;
  const main = createHttp(HTTP, (req, res) => {
    // A connection that becomes idle after the stop has begun would stay open until its keep-alive ends.
    res.once('close', () => stopping && setImmediate(() => main.closeIdleConnections()));
    parts.listener(req, res);
  });
  const canary = createTcp((socket) => {
    socket.on('error', () => undefined);
    socket.end();
  });
  const health = createHealthServer({
    ready: async () => (stopping ? 'stopping' : parts.ready()),
    metrics: parts.metrics,
  });
  const ports = {
    main: await listen(main, parts.ports.main),
    canary: await listen(canary, parts.ports.canary),
    health: await listen(health, parts.ports.health),
  };
  const stop = async (): Promise<void> => {
    stopping = true;
    await pause(parts.clock, parts.lameDuckMs);
    parts.endWaits();
    await closeGracefully(main, parts.drainMs);
    canary.close();
    health.close();
    health.closeAllConnections();
  };
  let stopped: Promise<void> | undefined;
  return {
    ports,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}
