import type {Pod} from '../../src/api/kube-pod.ts';
import type {SessionObject, SessionSpec, TurnObject, TurnStatus} from '../../src/api/v1alpha1/index.ts';
import type {Append} from '../../src/api/wire/archive.ts';
import {allControllers} from '../../src/controllers/all.ts';
import {addControllerCaches} from '../../src/controllers/caches.ts';
import {ClusterAddresses} from '../../src/controllers/cluster-ip.ts';
import {Delivery} from '../../src/controllers/delivery.ts';
import {Pods} from '../../src/kube/builtin.ts';
import {createCaches} from '../../src/kube/cache.ts';
import {createClient} from '../../src/kube/client.ts';
import type {Clock} from '../../src/kube/clock.ts';
import type {Connection} from '../../src/kube/connection.ts';
import {createRecorder} from '../../src/kube/events.ts';
import {Sessions, Turns} from '../../src/kube/kinds.ts';
import type {Client} from '../../src/kube/ports.ts';
import type {FakeApi} from './fake-api.ts';
import {keptLog} from './log.ts';

/** The controllers of a process, against whatever API server; the test plays kubelet, gateway and archive. */
export interface ControllerFixture {
  readonly namespace: string;
  readonly client: Client;
  readonly log: ReturnType<typeof keptLog>;
  /** What the controller told the archive. */
  readonly archived: Append[];
  /** Reconciles so far, by controller and result. */
  readonly reconciles: Record<string, number>;
  /** While set, the archive is down. */
  archiveFault: Error | undefined;
  session(name: string): Promise<SessionObject>;
  turn(name: string): Promise<TurnObject>;
  /** The runner of the present pod reports, through the gateway. */
  report(session: string, more?: Partial<NonNullable<NonNullable<SessionObject['status']>['runner']>>): Promise<void>;
  /** The gateway ends the running turn. */
  finish(turn: string, status?: TurnStatus): Promise<void>;
  /** The kubelet says how the pod stands. */
  podStatus(session: string, status: Pod['status']): Promise<void>;
  /** Nothing queued, nothing running, and everything written was seen. */
  settled(): Promise<void>;
  /** Wait until a probe gives a value; `what` is said when it never does. */
  until<T>(what: string, probe: () => Promise<T | undefined>): Promise<T>;
  stop(): Promise<void>;
}

/** What a fixture runs against. */
export interface FixtureParts {
  readonly connection: Connection;
  readonly namespace: string;
  /** Where the Services of gateway and egress relay are; the same namespace if absent. */
  readonly releaseNamespace?: string;
  readonly delivery?: Delivery;
  /** Time of the controllers; the machine's if absent. */
  readonly clock?: Clock;
}

export const RUNTIME_IMAGE = `registry.example/carrel@sha256:${'b'.repeat(64)}`;
export const AGENT_IMAGE = `registry.example/agent@sha256:${'a'.repeat(64)}`;

/** Start all controllers in this process. */
export async function startControllers({connection, namespace, ...parts}: FixtureParts): Promise<ControllerFixture> {
  const releaseNamespace = parts.releaseNamespace ?? namespace;
  const log = keptLog();
  const client = createClient({connection, fieldManager: 'carrel-controller', log});
  const caches = createCaches({connection, log});
  addControllerCaches(caches, {releaseNamespace, namespace});
  caches.start();
  const synced = await caches.whenSynced({timeoutMs: 20_000});
  if (!synced) throw new Error(`caches are not in sync: ${JSON.stringify(log.lines)}`);
  const events = createRecorder({client, controller: 'carrel.dev/controller', instance: 'test', log});
  const archived: Append[] = [];
  const reconciles: Record<string, number> = {};
  const fixture: Pick<ControllerFixture, 'archiveFault'> = {archiveFault: undefined};
  const nothing = () => {};
  const running = allControllers({
    archive: {
      async append(batch) {
        if (fixture.archiveFault !== undefined) throw fixture.archiveFault;
        archived.push(batch);
        return {acked: batch.from + batch.records.length - 1};
      },
    },
    delivery: parts.delivery ?? new Delivery('Auto'),
    endpoints: {namespace: releaseNamespace, gateway: 'carrel-gateway', egress: 'carrel-egress'},
    release: {namespace: releaseNamespace, gateway: {app: 'gateway'}, egress: {app: 'egress'}},
    runtimeImage: RUNTIME_IMAGE,
    accessMode: 'ReadWriteOnce',
    range: {first: 200_000, last: 200_100},
  }).map((definition) =>
    definition.start({
      caches,
      client,
      events,
      log,
      term: new AbortController().signal,
      ...(parts.clock === undefined ? {} : {clock: parts.clock}),
      metrics: {
        request: nothing,
        cacheSize: nothing,
        relist: nothing,
        watchEnd: nothing,
        queueDepth: nothing,
        eventDropped: nothing,
        reconcile(controller, result) {
          const key = `${controller} ${result}`;
          reconciles[key] = (reconciles[key] ?? 0) + 1;
        },
      },
    }),
  );
  const until: ControllerFixture['until'] = async (what, probe) => {
    const end = Date.now() + 30_000;
    for (;;) {
      const value = await probe();
      if (value !== undefined) return value;
      if (Date.now() > end) throw new Error(`${what}: not within 30 s; log: ${JSON.stringify(log.lines.slice(-10))}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const session = (name: string) => client.get(Sessions, {namespace, name});
  const turn = (name: string) => client.get(Turns, {namespace, name});
  return Object.assign(fixture, {
    namespace,
    client,
    log,
    archived,
    reconciles,
    session,
    turn,
    until,
    async report(name: string, more: object = {}) {
      const {metadata, status} = await session(name);
      const value = {
        podUID: status?.pod?.uid ?? '',
        epoch: 1,
        state: 'Ready',
        agentSessionId: 'conversation-1',
        ...more,
      };
      const tests = {'/status/pod/uid': status?.pod?.uid ?? ''};
      const ops = [{op: 'add' as const, path: '/status/runner', value}];
      await client.patchStatusJson(Sessions, {namespace, name}, {uid: metadata.uid, tests, ops});
    },
    async finish(name: string, end: TurnStatus = {phase: 'Completed', stopReason: 'EndTurn', response: 'done'}) {
      const {metadata, status} = await turn(name);
      const tests = {'/status/podUID': status?.podUID ?? '', '/status/phase': 'Running'};
      const whole = {finishedAt: new Date().toISOString().replace(/\.\d+/, ''), archived: true, ...end};
      const ops = Object.entries(whole).map(([field, value]) => ({
        op: 'add' as const,
        path: `/status/${field}`,
        value,
      }));
      await client.patchStatusJson(Turns, {namespace, name}, {uid: metadata.uid, tests, ops});
    },
    async podStatus(name: string, status: Pod['status']) {
      const pod = (await session(name)).status?.pod;
      const live = await client.get(Pods, {namespace, name: pod?.name ?? ''});
      const {resourceVersion} = live.metadata;
      await client.patchStatusMerge(
        Pods,
        {namespace, name: live.metadata.name},
        {resourceVersion, status: status ?? {}},
      );
    },
    async settled() {
      let quiet = 0;
      await until('settled', async () => {
        quiet = running.every((c) => c.pending() === 0) ? quiet + 1 : 0;
        return quiet >= 10 ? true : undefined;
      });
      await events.flush({timeoutMs: 5_000});
    },
    async stop() {
      await Promise.all(running.map((c) => c.stop()));
      await caches.stop();
    },
  });
}

/** Objects that a namespace needs before sessions can run: addresses of gateway and relay, and an Agent. */
export function servicesOf(namespace: string): readonly object[] {
  return ['carrel-gateway', 'carrel-egress'].map((name) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {name, namespace},
    spec: {ports: [{port: 8080}]},
  }));
}

/** Gateway and relay with the addresses that pods are told. */
export function putAddresses(api: FakeApi, namespace: string): void {
  const addresses = {'carrel-gateway': '10.0.0.1', 'carrel-egress': '10.0.0.2'};
  for (const [name, clusterIP] of Object.entries(addresses))
    api.put(ClusterAddresses, {metadata: {name, namespace}, spec: {clusterIP}});
}

/** A Session spec with the defaults that the API server would fill in. */
export function sessionSpec(spec: Partial<SessionSpec> = {}): SessionSpec {
  return {agent: 'scribe', desired: 'Active', restart: 0, ttlAfterFinished: '7d', turnHistoryLimit: 20, ...spec};
}
