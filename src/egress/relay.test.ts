import {request as httpRequest} from 'node:http';
import {connect, createServer, type Server, type Socket} from 'node:net';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {type FakeApi, startFakeApi} from '../../test/support/fake-api.ts';
import {keptLog} from '../../test/support/log.ts';
import {POD_NAME, POD_UID, session} from '../../test/support/runner-objects.ts';
import {Agent} from '../api/v1alpha1/index.ts';
import {buildRevision, type RevisionData, revisionName} from '../domain/agent/revision.ts';
import {parseRange} from '../domain/egress/address.ts';
import {parseCeilingEntry} from '../domain/egress/ceiling.ts';
import {listen} from '../http/listen.ts';
import {ControllerRevisions} from '../kube/builtin.ts';
import {createCaches} from '../kube/cache.ts';
import {createClient} from '../kube/client.ts';
import {Sessions} from '../kube/kinds.ts';
import type {Caches} from '../kube/ports.ts';
import {addEgressCaches} from './caches.ts';
import {createCanary} from './canary.ts';
import type {ClusterRanges} from './cluster-ranges.ts';
import {createRelay, type Relay, type RelayParts} from './relay.ts';

const ranges = (...texts: string[]) => texts.flatMap((text) => parseRange(text) ?? []);
const entries = (...texts: string[]) => texts.flatMap((text) => parseCeilingEntry(text) ?? []);

function revisionFor(port: number): RevisionData {
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

const NAMES: Record<string, string[]> = {
  'echo.example': ['127.0.0.1'],
  'models.example': ['127.0.0.1'],
  'inside.example': ['10.96.0.1', '::ffff:127.0.0.1', '169.254.169.254'],
  'gone.example': ['127.0.0.1'],
};

let api: FakeApi;
let caches: Caches;
let relay: Relay;
let echo: Server;
let echoPort = 0;
let port = 0;
let resolved: string[];
let verdict: 'given' | 'none';
const open: Socket[] = [];
const log = keptLog();
const counted: unknown[] = [];

beforeEach(async () => {
  verdict = 'given';
  resolved = [];
  counted.length = 0;
  echo = createServer({allowHalfOpen: true}, (socket) => socket.on('error', () => undefined).pipe(socket));
  echoPort = await listen(echo, 0, '127.0.0.1');
  api = await startFakeApi();
});

const startRelay = async (changes: Partial<RelayParts> = {}) => {
  const revision = revisionFor(echoPort);
  api.put(ControllerRevisions, {...buildRevision(revision, 'team-a')});
  api.put(Sessions, session({revision: revisionName(revision)}));
  caches = createCaches({connection: api.connection, log});
  const cached = addEgressCaches(caches);
  caches.start();
  await caches.whenSynced({timeoutMs: 10_000});
  relay = createRelay({
    client: createClient({connection: api.connection, fieldManager: 'carrel-egress', log}),
    caches: cached,
    reviewToken: async (token, audience) => {
      if (verdict === 'none') throw new Error('API server away');
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
  port = await listen(relay.server, 0, '127.0.0.1');
};

afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  relay.tunnels.cutAll();
  relay.server.close();
  echo.close();
  await caches.stop();
  await api.close();
});

const GOOD = {'Proxy-Authorization': 'Bearer good', 'Carrel-Purpose': 'agent'};

/** Send a CONNECT and read the head of the answer. */
function tunnel(
  target: string,
  headers: Record<string, string> = GOOD,
): Promise<{status: number; body: string; socket: Socket}> {
  return new Promise((resolve, reject) => {
    const socket = connect({host: '127.0.0.1', port, allowHalfOpen: true});
    open.push(socket);
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
async function rest(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};

describe('a tunnel', () => {
  for (const [purpose, host] of [
    ['agent', 'echo.example'],
    ['model', 'models.example'],
  ] as const) {
    it(`of purpose ${purpose} carries bytes both ways, ends one direction at a time, and is counted`, async () => {
      await startRelay();
      const {status, socket} = await tunnel(`${host}:${echoPort}`, {...GOOD, 'Carrel-Purpose': purpose});
      expect(status).toBe(200);
      socket.end('hello');
      expect(await rest(socket)).toBe('hello');
      await until(() => counted.length > 0);
      expect(counted).toEqual([{purpose, up: 5, down: 5}]);
    });
  }

  it('carries 8 MiB to a slow reader without keeping them', async () => {
    await startRelay();
    const {socket} = await tunnel(`echo.example:${echoPort}`);
    const size = 8 * 1024 * 1024;
    socket.end(Buffer.alloc(size, 'x'));
    expect((await rest(socket)).length).toBe(size);
  });

  it('of a silent pair ends after the idle time', async () => {
    await startRelay({limits: {perPod: 3, total: 10, idleMs: 50, connectMs: 2_000}});
    const {socket} = await tunnel(`echo.example:${echoPort}`);
    expect(await rest(socket).catch(() => 'reset')).toMatch(/^(reset|)$/);
    await until(() => relay.tunnels.size() === 0);
  });

  it('is cut when its session names another pod', async () => {
    await startRelay();
    const {socket} = await tunnel(`echo.example:${echoPort}`);
    api.put(Sessions, session({attempt: 2, pod: {name: 'carrel-one-aaaaaaaa-2', uid: 'pod-uid-2'}}));
    expect(await rest(socket).catch(() => 'reset')).toMatch(/^(reset|)$/);
    expect((await tunnel(`echo.example:${echoPort}`)).body).toContain('not_bound');
  });
});

describe('a refusal', () => {
  const rows: {
    state: string;
    target?: string;
    headers?: Record<string, string>;
    status: number;
    code: string;
    says?: string;
  }[] = [
    {state: 'no token', headers: {'Carrel-Purpose': 'agent'}, status: 407, code: 'token_missing'},
    {
      state: 'a token of another audience',
      headers: {...GOOD, 'Proxy-Authorization': 'Bearer other'},
      status: 407,
      code: 'token_refused',
    },
    {state: 'no purpose', headers: {'Proxy-Authorization': 'Bearer good'}, status: 400, code: 'purpose_invalid'},
    {state: 'an unknown purpose', headers: {...GOOD, 'Carrel-Purpose': 'root'}, status: 400, code: 'purpose_invalid'},
    {state: 'an address in disguise', target: '2130706433:443', status: 400, code: 'target_invalid'},
    {
      state: 'a host that is not listed',
      target: 'evil.example:443',
      status: 403,
      code: 'host_not_allowed',
      says: 'evil.example:443 is not allowed',
    },
    {
      state: 'the model for the agent',
      target: 'models.example:443',
      status: 403,
      code: 'host_not_allowed',
      says: 'echo.example',
    },
    {state: 'an address that is not listed', target: '127.0.0.1:443', status: 403, code: 'host_not_allowed'},
    {state: 'nobody listens', target: 'gone.example:1', status: 502, code: 'connect_failed'},
  ];
  for (const row of rows) {
    it(`for ${row.state} is ${row.status} ${row.code}`, async () => {
      await startRelay();
      const reply = await tunnel(row.target ?? `echo.example:${echoPort}`, row.headers);
      expect(reply.status).toBe(row.status);
      expect(JSON.parse(reply.body)).toMatchObject({code: row.code, message: expect.stringContaining(row.says ?? '')});
    });
  }

  it('comes after resolution, when no address of an allowed name may be reached', async () => {
    await startRelay();
    const {status, body} = await tunnel(`inside.example:${echoPort}`);
    expect([status, JSON.parse(body).code]).toEqual([403, 'address_not_allowed']);
    expect(body).toContain('an address of this cluster');
  });

  it('comes before resolution, when the name is not allowed: names could carry data out', async () => {
    await startRelay();
    await tunnel('secret-data.evil.example:443');
    await tunnel('models.example:443');
    expect(resolved).toEqual([]);
  });

  it('is 503, never 407, when no verdict can be had', async () => {
    await startRelay();
    verdict = 'none';
    expect(await tunnel(`echo.example:${echoPort}`)).toMatchObject({
      status: 503,
      body: expect.stringContaining('no_verdict'),
    });
  });

  it('is 503 while the ranges of the cluster are not known', async () => {
    const cluster = (): ClusterRanges => ({known: false, why: 'nodes are not listed yet'});
    await startRelay({cluster});
    expect(await tunnel(`echo.example:${echoPort}`)).toMatchObject({
      status: 503,
      body: expect.stringContaining('nodes are not listed'),
    });
  });

  it('meets a revision whose content does not fit its name', async () => {
    await startRelay();
    const data = revisionFor(echoPort);
    const forged = {...data, spec: {...data.spec, network: {egress: [{host: 'evil.example'}]}}};
    api.put(ControllerRevisions, {...buildRevision(data, 'team-a'), data: forged});
    await until(() => JSON.stringify(caches.of(ControllerRevisions).list()).includes('evil.example'));
    expect(await tunnel('evil.example:443')).toMatchObject({
      status: 403,
      body: expect.stringContaining('HashMismatch'),
    });
  });

  it('meets the connection after the last that a pod may have, until one is closed', async () => {
    await startRelay();
    const target = `echo.example:${echoPort}`;
    const [first] = await Promise.all([tunnel(target), tunnel(target), tunnel(target)]);
    expect(await tunnel(target)).toMatchObject({status: 503, body: expect.stringContaining('too_many')});
    first.socket.destroy();
    await until(() => relay.tunnels.size() < 3);
    expect((await tunnel(target)).status).toBe(200);
  });

  it('reads the session live while its watch is broken, so that a replaced pod does not get out', async () => {
    await startRelay();
    api.fault = ({query}) => (query.has('watch') ? 'hang' : undefined);
    api.endWatches('break');
    await until(() => !caches.of(Sessions).fresh());
    expect((await tunnel(`echo.example:${echoPort}`)).status).toBe(200);
    api.put(Sessions, session({pod: {name: POD_NAME, uid: 'another'}}));
    expect(await tunnel(`echo.example:${echoPort}`)).toMatchObject({
      status: 403,
      body: expect.stringContaining('not_bound'),
    });
  });

  it('answers anything but CONNECT with 405', async () => {
    await startRelay();
    const status = await new Promise((resolve) => {
      httpRequest({host: '127.0.0.1', port, path: 'http://echo.example/'}, (r) => resolve(r.resume().statusCode)).end();
    });
    expect(status).toBe(405);
  });
});

describe('the canary', () => {
  it('lets everybody connect, and says nothing', async () => {
    await startRelay();
    const canary = createCanary();
    const socket = connect({host: '127.0.0.1', port: await listen(canary, 0, '127.0.0.1')});
    expect(await rest(socket).catch(() => '')).toBe('');
    canary.close();
  });
});
