import {connect, createServer, type Socket} from 'node:net';
import {Agent} from '../../src/api/v1alpha1/index.ts';
import {buildRevision, type RevisionData, revisionName} from '../../src/domain/agent/revision.ts';
import {parseRange} from '../../src/domain/egress/address.ts';
import {parseCeilingEntry} from '../../src/domain/egress/ceiling.ts';
import {addEgressCaches} from '../../src/egress/caches.ts';
import {createRelay, type Relay, type RelayParts} from '../../src/egress/relay.ts';
import {listen} from '../../src/http/listen.ts';
import {ControllerRevisions} from '../../src/kube/builtin.ts';
import {createCaches} from '../../src/kube/cache.ts';
import {createClient} from '../../src/kube/client.ts';
import {Sessions} from '../../src/kube/kinds.ts';
import type {Caches} from '../../src/kube/ports.ts';
import {type FakeApi, startFakeApi} from './fake-api.ts';
import {keptLog} from './log.ts';
import {POD_UID, session} from './runner-objects.ts';

const ranges = (...texts: string[]) => texts.flatMap((text) => parseRange(text) ?? []);
const entries = (...texts: string[]) => texts.flatMap((text) => parseCeilingEntry(text) ?? []);

const NAMES: Record<string, string[]> = {
  'echo.example': ['127.0.0.1'],
  'models.example': ['127.0.0.1'],
  'inside.example': ['10.96.0.1', '::ffff:127.0.0.1', '169.254.169.254'],
  'gone.example': ['127.0.0.1'],
};

/** Headers of a CONNECT that is in order. */
export const GOOD = {'Proxy-Authorization': 'Bearer good', 'Carrel-Purpose': 'agent'};

/** The relay over a fake API server, and a server behind it that says back what it hears. */
export interface EgressBench {
  readonly api: FakeApi;
  readonly caches: Caches;
  readonly relay: Relay;
  readonly port: number;
  readonly echoPort: number;
  /** Names that the relay looked up. */
  readonly resolved: string[];
  /** Tunnels that ended, with their bytes. */
  readonly counted: unknown[];
  /** Whether the API server says whose a token is. */
  verdict: 'given' | 'none';
  /** Send a CONNECT and read the head of the answer. */
  tunnel(target: string, headers?: Record<string, string>): Promise<{status: number; body: string; socket: Socket}>;
  stop(): Promise<void>;
}

/** What the Agent of the session may reach. */
export function revisionFor(port: number): RevisionData {
  const spec = Agent.spec.parse({
    image: `a@sha256:${'0'.repeat(64)}`,
    command: ['x'],
    model: {name: 'm', dialect: 'OpenAIChat', baseUrl: `https://models.example:${port}/v1`},
    network: {
      egress: [
        {host: 'echo.example', ports: [port]},
        {host: 'inside.example', ports: [port]},
        {host: 'gone.example', ports: [1]},
      ],
    },
  });
  return {agent: {name: 'scripted', uid: 'agent-uid-1'}, generation: 1, uid: 100_000, spec};
}

/** Start one with a session that runs. */
export async function startEgressBench(changes: Partial<RelayParts> = {}): Promise<EgressBench> {
  const log = keptLog();
  const echo = createServer({allowHalfOpen: true}, (socket) => socket.on('error', () => undefined).pipe(socket));
  const echoPort = await listen(echo, 0, '127.0.0.1');
  const api = await startFakeApi();
  const revision = revisionFor(echoPort);
  api.put(ControllerRevisions, {...buildRevision(revision, 'team-a')});
  api.put(Sessions, session({revision: revisionName(revision)}));
  const caches = createCaches({connection: api.connection, log});
  const cached = addEgressCaches(caches);
  caches.start();
  await caches.whenSynced({timeoutMs: 10_000});
  const resolved: string[] = [];
  const counted: unknown[] = [];
  const relay = createRelay({
    client: createClient({connection: api.connection, fieldManager: 'carrel-egress', log}),
    caches: cached,
    reviewToken: async (token, audience) => {
      if (bench.verdict === 'none') throw new Error('API server away');
      const serviceAccount = {namespace: 'team-a', name: 'carrel-scripted'};
      return token === 'good' && audience === 'carrel-egress' ? {podUid: POD_UID, serviceAccount} : undefined;
    },
    resolve: async (host) => {
      resolved.push(host);
      return NAMES[host] ?? [];
    },
    cluster: () => ({known: true, ranges: ranges('10.96.0.0/16')}),
    allowPrivate: entries('127.0.0.0/8'),
    limits: {perPod: 3, total: 10, idleMs: 60_000, connectMs: 2_000},
    log,
    lagMs: 20,
    metrics: {
      tunnel: () => undefined,
      bytes: (purpose, count) => void counted.push({purpose, ...count}),
      open: () => undefined,
    },
    ...changes,
  });
  const port = await listen(relay.server, 0, '127.0.0.1');
  const open: Socket[] = [];
  const bench: EgressBench = {
    api,
    caches,
    relay,
    port,
    echoPort,
    resolved,
    counted,
    verdict: 'given',
    tunnel(target, headers = GOOD) {
      const socket = connect({host: '127.0.0.1', port, allowHalfOpen: true});
      open.push(socket);
      return askTunnel(socket, target, headers);
    },
    async stop() {
      for (const socket of open) socket.destroy();
      relay.tunnels.cutAll();
      relay.server.close();
      echo.close();
      await caches.stop();
      await api.close();
    },
  };
  return bench;
}

function askTunnel(
  socket: Socket,
  target: string,
  headers: Record<string, string>,
): Promise<{status: number; body: string; socket: Socket}> {
  return new Promise((resolve, reject) => {
    const lines = Object.entries({Host: target, ...headers}).map(([name, value]) => `${name}: ${value}`);
    socket.write([`CONNECT ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
    let text = '';
    const read = (chunk: Buffer) => {
      text += chunk.toString();
      const end = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: ([0-9]+)/.exec(text)?.[1] ?? 0);
      if (end < 0 || text.length < end + 4 + length) return;
      socket.off('data', read);
      resolve({status: Number(text.slice(9, 12)), body: text.slice(end + 4), socket});
    };
    socket.on('data', read);
    socket.once('error', reject);
  });
}

/** Everything that comes until the other side ends. */
export async function rest(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

/** Turns of the event loop until it holds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
