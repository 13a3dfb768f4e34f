// A gateway over the fake API server: real client, real caches, real HTTP; reviews are answered from tables.
import {createHash} from 'node:crypto';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {isJson} from '../../src/api/json.ts';
import type {KubeObject} from '../../src/api/kube-object.ts';
import {Agent, type AgentObject, type SessionObject} from '../../src/api/v1alpha1/index.ts';
import type {StoredRecord} from '../../src/api/wire/archive.ts';
import {buildRevision, revisionData} from '../../src/domain/agent/revision.ts';
import type {Archive} from '../../src/domain/archive.ts';
import {createApiKeys} from '../../src/gateway/auth/api-keys.ts';
import {addGatewayCaches, type GatewayCaches} from '../../src/gateway/caches.ts';
import {startGateway} from '../../src/gateway/gateway.ts';
import type {RunningServer} from '../../src/gateway/server.ts';
import {ControllerRevisions} from '../../src/kube/builtin.ts';
import {createCaches} from '../../src/kube/cache.ts';
import {createClient} from '../../src/kube/client.ts';
import {systemClock} from '../../src/kube/clock.ts';
import {Agents, Sessions} from '../../src/kube/kinds.ts';
import type {Cache} from '../../src/kube/ports.ts';
import {createTokenReviewer} from '../../src/kube/token-review.ts';
import {member, text} from '../../src/kube/typed.ts';
import {type FakeApi, startFakeApi} from './fake-api.ts';
import {keptLog, type LogLine} from './log.ts';

/** API key of service account `team-a/bot`. */
export const KEY = 'key-of-bot-1234567890';

/** What a client of 2026-07-28 says with each request. */
export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': {name: 't', version: '1'},
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A running gateway and the world around it. */
export interface GatewayFixture {
  readonly api: FakeApi;
  readonly gateway: RunningServer;
  readonly url: string;
  readonly caches: GatewayCaches;
  readonly lines: LogLine[];
  /** Every answered request: its front and status. */
  readonly answered: string[];
  readonly keysFile: string;
  /** `verb resource[/sub]` that everybody may do; change it during a test. */
  readonly rights: Set<string>;
  /** Records of the archive by Session UID. */
  readonly records: Map<string, StoredRecord[]>;
  addAgent(name: string, groups: string[]): AgentObject;
  addSession(name: string, change?: Partial<SessionObject['spec']>, status?: object): SessionObject;
  /** Make a session that runs in a pod; returns its token. */
  addRunning(
    name: string,
    agent: string,
    change?: {spec?: object; status?: object},
  ): {session: SessionObject; token: string};
  /** Wait until the caches have seen everything. */
  settle(): Promise<void>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Call a tool, with the key of `bot` unless headers say otherwise; the answer as text, with plain quotes and line ends. */
  call(name: string, args: object, headers?: Record<string, string>): Promise<string>;
  close(): Promise<void>;
}

/** Start it; `askWaitMs` bounds `ask_user`. */
export async function startGatewayFixture({
  askWaitMs = 2_000,
  namespace = 'team-a',
  origins = ['https://carrel.example'],
  maxInFlight = 2_000,
  clock = systemClock,
} = {}): Promise<GatewayFixture> {
  const api = await startFakeApi();
  const log = keptLog();
  const folder = await mkdtemp(join(tmpdir(), 'carrel-gateway-'));
  const keysFile = join(folder, 'keys.json');
  await writeFile(keysFile, JSON.stringify({bot: {sha256: digest(KEY), serviceAccount: 'team-a/bot'}}));
  const rights = new Set([
    'get sessions',
    'list sessions',
    'create sessions',
    'patch sessions',
    'create turns',
    'get sessions/transcript',
  ]);
  api.fault = (seen) => answerReview(rights, seen.path, seen.body);
  const client = createClient({connection: api.connection, fieldManager: 'carrel-gateway', log});
  const all = createCaches({connection: api.connection, log});
  const caches = addGatewayCaches(all);
  all.start();
  await all.whenSynced({timeoutMs: 10_000});
  const answered: string[] = [];
  const records = new Map<string, StoredRecord[]>();
  const gateway = await startGateway({
    client,
    caches,
    archive: archiveOf(records),
    reviewToken: createTokenReviewer({client, clock: systemClock}),
    findApiKey: createApiKeys({path: keysFile, clock: systemClock, log}),
    runnerApi: async (_req, res) => void res.writeHead(418).end(),
    allowlists: {hosts: ['localhost', 'carrel.example'], origins},
    audiences: ['oidc-client'],
    version: '0.0.0-test',
    clock,
    log,
    askWaitMs,
    maxInFlight,
    ports: {main: 0, canary: 0, health: 0},
    lameDuckMs: 0,
    drainMs: 5_000,
    ready: () => undefined,
    endWaits: () => undefined,
    metrics: async () => '',
    measure: () => undefined,
    answered: (route, status) => void answered.push(`${route} ${status}`),
  });
  const url = `http://127.0.0.1:${gateway.ports.main}`;
  const fixture: GatewayFixture = {
    api,
    gateway,
    url,
    caches,
    lines: log.lines,
    answered,
    keysFile,
    rights,
    records,
    addAgent(name, groups) {
      const image = `registry.example/agent@sha256:${'0'.repeat(64)}`;
      const agent = api.put(Agents, {
        metadata: {namespace, name},
        spec: Agent.spec.parse({image, command: ['/agent'], groups}),
      });
      const revision = buildRevision(revisionData(agent, {first: 100_000, last: 200_000}), namespace);
      api.put(ControllerRevisions, revision);
      return api.put(Agents, {...agent, status: {publishedRevision: revision.metadata.name}});
    },
    addSession(name, change = {}, status) {
      const spec = {
        agent: 'writer',
        desired: 'Active' as const,
        restart: 0,
        ttlAfterFinished: '7d',
        turnHistoryLimit: 20,
        ...change,
      };
      return api.put(Sessions, {metadata: {namespace, name}, spec, ...(status === undefined ? {} : {status})});
    },
    addRunning(name, agent, {spec = {}, status = {}} = {}) {
      const revision = api.get(Agents, {namespace, name: agent})?.status?.publishedRevision;
      const podUid = `pod-${name}`;
      const running = {phase: 'Running', revision, pod: {name: `carrel-${name}`, uid: podUid}, ...status};
      const session = fixture.addSession(name, {agent, ...spec}, running);
      return {session, token: jwt({aud: ['carrel-mcp'], namespace, podUid})};
    },
    async settle() {
      await Promise.all([
        seen(api, caches.agents),
        seen(api, caches.sessions),
        seen(api, caches.turns),
        seen(api, caches.questions),
        seen(api, caches.revisions),
      ]);
    },
    post: (path, body, headers = {}) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: {'content-type': 'application/json', ...headers},
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async call(name, args, headers = {'X-API-Key': KEY}) {
      const reply = await fixture.post('/mcp', rpc('tools/call', {name, arguments: args}), headers);
      return JSON.stringify(JSON.parse(await reply.text()))
        .replaceAll('\\n', '\n')
        .replaceAll('\\"', '"');
    },
    async close() {
      await gateway.stop();
      await all.stop();
      await api.close();
      await rm(folder, {recursive: true});
    },
  };
  return fixture;
}

async function seen<T extends KubeObject>(api: FakeApi, cache: Cache<T>): Promise<void> {
  for (const {metadata} of api.list(cache.resource)) {
    const {namespace, name, resourceVersion} = metadata;
    await cache.waitFor({namespace, name}, resourceVersion, {timeoutMs: 5_000});
  }
}

/** SHA-256 as hex, as the key file holds it. */
export function digest(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** A token that the fake API server accepts for what it claims. `refuse` makes it say no. */
export function jwt(claims: {
  aud: string[];
  namespace?: string;
  podUid?: string;
  /** Default `carrel-<podUid>`. */
  podName?: string;
  user?: string;
  refuse?: boolean;
}): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({alg: 'none'})}.${part(claims)}.signature`;
}

/** The id of a JSON-RPC call and its parameters, as a body. */
export function rpc(method: string, params: object = {}, id = 1): object {
  return {jsonrpc: '2.0', id, method, params};
}

function answerReview(
  rights: ReadonlySet<string>,
  path: string,
  body: string,
): {status: number; body: unknown} | undefined {
  if (path.endsWith('/tokenreviews'))
    return {status: 201, body: {status: tokenStatus(member(JSON.parse(body), 'spec'))}};
  if (!path.endsWith('/subjectaccessreviews')) return undefined;
  const asked = member(member(JSON.parse(body), 'spec'), 'resourceAttributes');
  const sub = text(asked, 'subresource');
  const right = `${text(asked, 'verb')} ${text(asked, 'resource')}${sub === '' ? '' : `/${sub}`}`;
  return {status: 201, body: {status: {allowed: rights.has(right) && text(asked, 'namespace') !== 'team-b'}}};
}

function tokenStatus(spec: object): object {
  const claims: unknown = JSON.parse(Buffer.from(text(spec, 'token').split('.')[1] ?? '', 'base64url').toString());
  if (!isJson(claims) || claims['refuse'] === true) return {error: 'invalid'};
  const asked = member({spec}, 'spec')['audiences'];
  const audiences = Array.isArray(asked)
    ? asked.filter((a) => Array.isArray(claims['aud']) && claims['aud'].includes(a))
    : [];
  if (audiences.length === 0) return {error: 'wrong audience'};
  const podUid = text(claims, 'podUid');
  const username = text(claims, 'user') || `system:serviceaccount:${text(claims, 'namespace')}:session`;
  const extra =
    podUid === ''
      ? {}
      : {
          'authentication.kubernetes.io/pod-uid': [podUid],
          'authentication.kubernetes.io/pod-name': [text(claims, 'podName') || `carrel-${podUid}`],
        };
  return {authenticated: true, audiences, user: {username, uid: 'user-uid', groups: ['system:authenticated'], extra}};
}

function archiveOf(records: ReadonlyMap<string, StoredRecord[]>): Archive {
  return {
    append: async (batch) => ({acked: batch.from + batch.records.length - 1}),
    async read({sessionUid, after, limit, turnUid}) {
      const all = (records.get(sessionUid) ?? []).filter(
        (r) => r.n > after && (turnUid === undefined || r.turn?.uid === turnUid),
      );
      const page = all.slice(0, limit);
      const last = page.at(-1)?.n;
      return {records: page, ...(all.length > limit && last !== undefined ? {next: last} : {})};
    },
    tail: async ({sessionUid}) => ({records: records.get(sessionUid) ?? []}),
  };
}

/** Start it with Agent `writer`, whose sessions have the groups that an Agent has by default. */
export async function startWithWriter(options?: Parameters<typeof startGatewayFixture>[0]): Promise<GatewayFixture> {
  const fixture = await startGatewayFixture(options);
  fixture.addAgent('writer', ['self_session', 'ask']);
  await fixture.settle();
  return fixture;
}
