import {createServer, request} from 'node:http';
import {createInterface} from 'node:readline';
import {type DesiredLine, DesiredLine as Line} from '../../src/api/wire/runner.ts';
import {openSqliteStore} from '../../src/archive/sqlite-store.ts';
import type {TranscriptStore} from '../../src/archive/store.ts';
import {type Archive, ArchiveError} from '../../src/domain/archive.ts';
import {addGatewayCaches} from '../../src/gateway/caches.ts';
import {createRunnerApi, type RunnerApi} from '../../src/gateway/runner-api/index.ts';
import {listen} from '../../src/http/listen.ts';
import {createCaches} from '../../src/kube/cache.ts';
import {createClient} from '../../src/kube/client.ts';
import {type Clock, systemClock} from '../../src/kube/clock.ts';
import {Sessions, Turns} from '../../src/kube/kinds.ts';
import type {Caches} from '../../src/kube/ports.ts';
import {type FakeApi, startFakeApi} from './fake-api.ts';
import {keptLog} from './log.ts';
import {POD_NAME, POD_UID, SESSION_UID, session, turn} from './runner-objects.ts';

/** A gateway's runner API over a fake API server, real caches, a real archive store and real sockets. */
export interface Bench {
  readonly api: FakeApi;
  readonly runnerApi: RunnerApi;
  readonly store: TranscriptStore;
  readonly log: ReturnType<typeof keptLog>;
  readonly caches: Caches;
  /** Make every append fail with this. */
  archiveError: ArchiveError | undefined;
  /** Tokens that are accepted: the pod each one belongs to; 'none' = no verdict. */
  readonly tokens: Map<string, {uid: string; name: string} | 'none'>;
  call(
    method: 'GET' | 'POST',
    path: string,
    options?: {token?: string; body?: unknown; headers?: Record<string, string>},
  ): Promise<{status: number; body: unknown; connection?: 'close'}>;
  /** The runner of the present pod tells what happened; `from` is the number of the first event. */
  post(events: readonly object[], from?: number, token?: string): Promise<{status: number; body: unknown}>;
  open(token?: string): Promise<OpenStream>;
  /** What the archive has of the session: kinds, or texts. */
  kinds(): Promise<string[]>;
  texts(): Promise<(string | undefined)[]>;
  close(): Promise<void>;
}

/** A stream as a runner sees it. */
export interface OpenStream {
  readonly status: number;
  /** The next document for which this holds; pings and others are skipped. Undefined when the stream ends before. */
  next(
    holds?: (line: Exclude<DesiredLine, {ping: true}>) => boolean,
  ): Promise<Exclude<DesiredLine, {ping: true}> | undefined>;
  close(): void;
}

/** Start one; `prepare` puts the objects that are there from the start. */
export async function startBench(prepare: (api: FakeApi) => void, clock: Clock = systemClock): Promise<Bench> {
  const api = await startFakeApi();
  prepare(api);
  const log = keptLog();
  const caches = createCaches({connection: api.connection, log, clock});
  const {sessions, turns, questions} = addGatewayCaches(caches);
  caches.start();
  await caches.whenSynced({timeoutMs: 10_000});
  const store = openSqliteStore(':memory:');
  const tokens: Bench['tokens'] = new Map();
  const archive = storeAsArchive(store, () => bench.archiveError);
  const runnerApi = createRunnerApi({
    client: createClient({connection: api.connection, fieldManager: 'carrel-gateway', log}),
    caches: {sessions, turns, questions},
    archive,
    log,
    clock,
    async reviewToken(token, audience) {
      const pod = audience === 'carrel-runner' ? tokens.get(token) : undefined;
      if (pod === 'none') throw new Error('no verdict');
      if (pod === undefined) return undefined;
      const serviceAccount = {namespace: 'team-a', name: 'carrel-scripted'};
      return {username: 'x', uid: 'y', groups: [], extra: {}, podUid: pod.uid, podName: pod.name, serviceAccount};
    },
  });
  const server = createServer((req, res) => void runnerApi(req, res, new URL(req.url ?? '/', 'http://gateway')));
  const port = await listen(server, 0, '127.0.0.1');
  const url = `http://127.0.0.1:${port}`;
  const bench: Bench = {
    api,
    runnerApi,
    store,
    log,
    caches,
    archiveError: undefined,
    tokens,
    async call(method, path, {token = 'good', body, headers = {}} = {}) {
      const init = {method, headers: {authorization: `Bearer ${token}`, ...headers}};
      const reply = await fetch(`${url}${path}`, body === undefined ? init : {...init, body: JSON.stringify(body)});
      const ends = reply.headers.get('connection') === 'close';
      return {status: reply.status, body: await reply.json(), ...(ends ? {connection: 'close'} : {})};
    },
    post: (events, from = 1, token = 'good') =>
      bench.call('POST', '/runner/v1/events', {token, body: {podUid: POD_UID, epoch: 1, from, events}}),
    open: (token = 'good') => openStream(url, token),
    kinds: async () => (await recordsOf(store)).map((r) => r.kind),
    texts: async () => (await recordsOf(store)).map((r) => r.text),
    async close() {
      server.closeAllConnections();
      server.close();
      await caches.stop();
      await api.close();
      await store.close();
    },
  };
  return bench;
}

/** Start one where session `one` runs turn `t1`, and its pod has the token `good`. */
export async function startWithTurn(
  prepare: (api: FakeApi) => void = () => undefined,
  clock: Clock = systemClock,
): Promise<Bench> {
  const bench = await startBench((api) => {
    api.put(Sessions, session());
    api.put(Turns, turn());
    prepare(api);
  }, clock);
  bench.tokens.set('good', {uid: POD_UID, name: POD_NAME});
  return bench;
}

async function recordsOf(store: TranscriptStore) {
  return (await store.read({namespace: 'team-a', sessionUid: SESSION_UID, after: 0, limit: 100})).records;
}

function storeAsArchive(store: TranscriptStore, broken: () => ArchiveError | undefined): Archive {
  const check = () => {
    const error = broken();
    if (error !== undefined) throw error;
  };
  return {
    async append(batch) {
      check();
      const result = await store.append(batch);
      if (result.kind === 'gap') throw new ArchiveError('Gap', 'gap', {acked: result.acked});
      return {acked: result.acked};
    },
    async read(query) {
      check();
      return store.read(query);
    },
    async tail(query) {
      check();
      return store.tail(query);
    },
  };
}

function openStream(url: string, token: string): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}/runner/v1/desired`, {headers: {authorization: `Bearer ${token}`}});
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      const lines = createInterface({input: response})[Symbol.asyncIterator]();
      response.on('error', () => undefined);
      resolve({
        status: response.statusCode ?? 0,
        async next(holds = () => true) {
          for (;;) {
            const line = await lines.next();
            if (line.done === true) return undefined;
            const document = Line.parse(JSON.parse(line.value));
            if (!('ping' in document) && holds(document)) return document;
          }
        },
        close: () => outgoing.destroy(),
      });
    });
    outgoing.end();
  });
}
