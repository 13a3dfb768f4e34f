import {createServer, type IncomingMessage, type Server} from 'node:http';
import type {Duplex} from 'node:stream';
import {sameKey} from './guard.ts';
import type {LoopbackOptions} from './ports.ts';
import {openTunnel, RelayError} from './relay.ts';

/** Tunnels of one agent at the same time. */
const MAX_TUNNELS = 128;
/** Milliseconds in which nothing passes in either direction before a tunnel is closed. */
const IDLE_TIMEOUT = 600_000;

/** `name:port` or `address:port`; the relay decides what may be reached. */
const AUTHORITY = /^([a-z0-9]([a-z0-9.-]{0,252}[a-z0-9])?|\[[0-9a-f:.]{2,45}\]):([1-9][0-9]{0,4})$/i;

/** The agent's way to the hosts that its Agent lists: CONNECT only, handed on to the egress relay. */
export function createHttpsProxy(options: LoopbackOptions): Server {
  let tunnels = 0;
  const server = createServer({maxHeaderSize: 8192}, (_request, response) => {
    response.writeHead(405, {'content-type': 'text/plain', connection: 'close'});
    response.end('this proxy takes CONNECT only: use https URLs\n');
  });
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => client.destroy());
    const refusal = refuse(request, options.key, tunnels);
    if (refusal) return answer(client, refusal.status, refusal.text);
    tunnels += 1;
    client.once('close', () => {
      tunnels -= 1;
    });
    join(options, request.url ?? '', client, head).catch((error: unknown) => {
      const known = error instanceof RelayError;
      if (!known) options.log.warn({error: String(error)}, 'a tunnel of the agent failed');
      // The relay's 407 is about the runner's token; the agent's own key was right.
      const status = known && error.status !== 407 ? error.status : 502;
      answer(client, status, known ? error.message : 'the tunnel failed');
    });
  });
  return server;
}

function refuse(request: IncomingMessage, key: string, tunnels: number): {status: number; text: string} | undefined {
  const basic = /^basic ([A-Za-z0-9+/=]+)$/i.exec(request.headers['proxy-authorization'] ?? '')?.[1] ?? '';
  const [user, shown] = Buffer.from(basic, 'base64').toString('utf8').split(':', 2);
  if (user !== 'carrel' || !sameKey(shown, key))
    return {status: 407, text: 'use the proxy URL that the agent was given'};
  if (request.headers.origin !== undefined) return {status: 403, text: 'requests with an Origin header are refused'};
  const target = request.url ?? '';
  const [, name = '', , asked = 0] = AUTHORITY.exec(target) ?? [];
  const port = Number(asked);
  if (port < 1 || port > 65535) return {status: 400, text: 'ask for host:port'};
  const own = `127.0.0.1:${request.socket.localPort}`;
  if (!hostFits(request, [target, name, own])) {
    return {status: 400, text: `the Host header must be ${target} or ${own}, or left out`};
  }
  if (tunnels >= MAX_TUNNELS) return {status: 429, text: `at most ${MAX_TUNNELS} connections at once`};
  return undefined;
}

// Clients of HTTP/1.0 send none, the fetch of Node leaves the port out where it is the usual one, and a plain request of Node
// names the proxy itself, as we tell its address. A browser that was rebound to this address shows its own name.
function hostFits(request: IncomingMessage, allowed: readonly string[]): boolean {
  const hosts = request.headersDistinct['host'] ?? [];
  const [host] = hosts;
  if (host === undefined) return true;
  return hosts.length === 1 && allowed.some((name) => name.toLowerCase() === host.toLowerCase());
}

async function join(options: LoopbackOptions, target: string, client: Duplex, head: Buffer): Promise<void> {
  const tunnel = await openTunnel(options, 'agent', target.toLowerCase());
  if (client.destroyed) {
    tunnel.destroy();
    return;
  }
  tunnel.setTimeout(IDLE_TIMEOUT, () => tunnel.destroy());
  tunnel.on('error', () => client.destroy());
  // An orderly end is passed on by pipe, with what is still on its way; only a broken connection is cut.
  tunnel.on('close', () => {
    if (!tunnel.readableEnded) client.destroy();
  });
  client.on('close', () => {
    if (!client.readableEnded || !client.writableFinished) tunnel.destroy();
  });
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (head.length > 0) tunnel.write(head);
  tunnel.pipe(client);
  client.pipe(tunnel);
}

function answer(client: Duplex, status: number, text: string): void {
  if (client.destroyed || client.writableEnded) return;
  const body = `${text}\n`;
  const more = status === 407 ? 'proxy-authenticate: Basic realm="carrel"\r\n' : '';
  client.end(
    `HTTP/1.1 ${status} Refused\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${more}connection: close\r\n\r\n${body}`,
  );
}
