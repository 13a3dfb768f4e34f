import {createServer, type IncomingMessage, type Server} from 'node:http';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import {PURPOSE, PURPOSE_HEADER} from '../api/wire/egress.ts';
import type {Range} from '../domain/egress/address.ts';
import type {CeilingEntry} from '../domain/egress/ceiling.ts';
import type {Purpose} from '../domain/egress/rules.ts';
import {parseTarget, type Target} from '../domain/egress/target.ts';
import type {Log} from '../kube/ports.ts';
import type {EgressCaches} from './caches.ts';
import type {ClusterRanges} from './cluster-ranges.ts';
import {connectFirst} from './connect.ts';
import {type Grant, type GrantParts, grantOf} from './grant.ts';
import {createOpenTunnels, type OpenTunnels} from './open-tunnels.ts';
import {EgressRefusal} from './refusal.ts';
import type {Resolve} from './resolve.ts';
import {routeTo} from './route.ts';
import {join} from './tunnel.ts';

/** What the relay is made of. */
export interface RelayParts extends GrantParts {
  readonly caches: Pick<EgressCaches, 'sessions' | 'revisions'>;
  readonly resolve: Resolve;
  readonly cluster: () => ClusterRanges;
  readonly allowPrivate: readonly CeilingEntry[];
  readonly limits: {
    readonly perPod: number;
    readonly total: number;
    readonly idleMs: number;
    readonly connectMs: number;
  };
  readonly log: Log;
  readonly metrics: {
    tunnel(purpose: string, code: string): void;
    bytes(purpose: Purpose, count: {up: number; down: number}): void;
    open(tunnels: number): void;
  };
}

/** The relay: its server, and the end of its connections. */
export interface Relay {
  readonly server: Server;
  readonly tunnels: OpenTunnels;
}

/** A CONNECT proxy for session pods and nobody else; `src/api/wire/egress.ts`. The caller listens and closes. */
export function createRelay(parts: RelayParts): Relay {
  const tunnels = createOpenTunnels(parts.limits);
  const server = createServer({headersTimeout: 10_000, requestTimeout: 10_000, maxHeaderSize: 16_384, keepAlive: true});
  server.maxConnections = parts.limits.total + 256;
  server.on('request', (_request, response) => {
    const body = text('connect_only', 'this is an egress relay: it takes CONNECT host:port only');
    response.writeHead(405, {...HEADERS, allow: 'CONNECT', 'content-length': Buffer.byteLength(body)}).end(body);
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Until the tunnel stands nobody else listens; an unheard error would end the process.
    socket.on('error', () => socket.destroy());
    void serve(parts, tunnels, {request, socket, head});
  });
  // A pod that was replaced keeps no connection, even where its process lives on.
  parts.caches.sessions.subscribe(({old, new: now}) => {
    const before = old?.status?.pod?.uid;
    if (before !== undefined && before !== now?.status?.pod?.uid) tunnels.cut(before);
  });
  return {server, tunnels};
}

interface Attempt {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

async function serve(parts: RelayParts, tunnels: OpenTunnels, attempt: Attempt): Promise<void> {
  const {socket, request} = attempt;
  const purpose = purposeOf(request);
  const started = performance.now();
  let grant: Grant | undefined;
  try {
    if (purpose === undefined)
      throw new EgressRefusal('purpose_invalid', `send ${PURPOSE_HEADER}: model or agent, once`);
    const {target, ranges} = admissible(parts, request);
    grant = await grantOf(parts, tokenOf(request));
    tunnels.enter(grant.podUid, socket);
    const {upstream, address} = await dial(parts, socket, {grant, purpose, target, ranges});
    parts.metrics.tunnel(purpose, 'ok');
    parts.metrics.open(tunnels.size());
    socket.write('HTTP/1.1 200 Connection established\r\nproxy-agent: carrel\r\n\r\n');
    const count = await join(socket, upstream, {head: attempt.head, idleMs: parts.limits.idleMs});
    parts.metrics.bytes(purpose, count);
    const facts = {...whose(grant), purpose, host: target.host, port: target.port, address, ...count};
    parts.log.info({...facts, seconds: Math.round(performance.now() - started) / 1_000}, 'tunnel closed');
  } catch (error) {
    refuse(parts, attempt, {error, purpose, grant});
  } finally {
    parts.metrics.open(tunnels.size());
  }
}

function admissible(parts: RelayParts, request: IncomingMessage): {target: Target; ranges: readonly Range[]} {
  const target = parseTarget(request.url ?? '');
  if (target === undefined)
    throw new EgressRefusal('target_invalid', 'CONNECT takes name:port, IPv4:port or [IPv6]:port');
  const cluster = parts.cluster();
  if (cluster.known) return {target, ranges: cluster.ranges};
  throw new EgressRefusal('not_ready', `the relay does not know its cluster yet: ${cluster.why}`);
}

interface Wanted {
  readonly grant: Grant;
  readonly purpose: Purpose;
  readonly target: Target;
  readonly ranges: readonly Range[];
}

async function dial(
  parts: RelayParts,
  socket: Duplex,
  {ranges, ...wanted}: Wanted,
): Promise<{upstream: Socket; address: string}> {
  const ceiling = {cluster: ranges, allowed: parts.allowPrivate};
  const addresses = await routeTo(wanted, {resolve: parts.resolve, ceiling});
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  if (socket.destroyed) gone.abort();
  const limits = {timeoutMs: parts.limits.connectMs, signal: gone.signal};
  const {socket: upstream, address} = await connectFirst(addresses, wanted.target.port, limits);
  return {upstream, address};
}

function purposeOf(request: IncomingMessage): Purpose | undefined {
  const values = request.headersDistinct[PURPOSE_HEADER] ?? [];
  return values.length === 1 ? Object.values(PURPOSE).find((purpose) => purpose === values[0]) : undefined;
}

function tokenOf(request: IncomingMessage): string {
  const values = request.headersDistinct['proxy-authorization'] ?? [];
  const token = values.length === 1 ? /^Bearer ([A-Za-z0-9._~+/=-]{1,8192})$/i.exec(values[0] ?? '')?.[1] : undefined;
  if (token === undefined) throw new EgressRefusal('token_missing', 'send one Proxy-Authorization: Bearer token');
  return token;
}

const HEADERS = {'content-type': 'application/json', 'proxy-agent': 'carrel', connection: 'close'} as const;

interface Failed {
  readonly error: unknown;
  readonly purpose: Purpose | undefined;
  readonly grant: Grant | undefined;
}

function refuse({log, metrics}: RelayParts, attempt: Attempt, {error, purpose, grant}: Failed): void {
  const {socket, request} = attempt;
  const known =
    error instanceof EgressRefusal ? error : new EgressRefusal('internal', 'an error of the relay; its log says more');
  metrics.tunnel(purpose ?? 'none', known.code);
  const cause = error instanceof EgressRefusal ? error.cause : error;
  const detail = cause instanceof Error ? {cause: cause.message} : {};
  const facts = {
    target: (request.url ?? '').slice(0, 300),
    purpose,
    code: known.code,
    reason: known.message,
    ...detail,
  };
  log.warn({...(grant === undefined ? {} : whose(grant)), ...facts}, 'tunnel refused');
  const body = text(known.code, known.message);
  const headers: Record<string, string | number> = {...HEADERS, 'content-length': Buffer.byteLength(body)};
  if (known.status === 407) headers['proxy-authenticate'] = 'Bearer';
  if (known.status === 503) headers['retry-after'] = 1;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${known.status} Refused`, ...lines, '', body].join('\r\n'));
  // Read on, so that the answer is not lost to a reset; but not for ever.
  socket.resume();
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
}

const LINGER_MS = 2_000;

function text(code: string, message: string): string {
  return `${JSON.stringify({code, message})}\n`;
}

function whose({namespace, session, podUid, revision}: Grant) {
  return {namespace, session, pod: podUid, revision};
}
