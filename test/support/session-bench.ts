import type {SessionObject} from '../../src/api/v1alpha1/index.ts';
import {type Clock, systemClock} from '../../src/kube/clock.ts';
import {Agents, Sessions, Turns} from '../../src/kube/kinds.ts';
import {
  AGENT_IMAGE,
  type ControllerFixture,
  putAddresses,
  sessionSpec,
  startControllers,
} from './controller-fixture.ts';
import {type FakeApi, startFakeApi} from './fake-api.ts';
import {revisionData} from './session-objects.ts';

/** Where the sessions of the bench are. */
export const namespace = 'team';

/** All controllers over a fake API server, with an Agent that is published; the test plays kubelet, gateway and archive for session `one`. */
export class SessionBench {
  readonly api: FakeApi;
  /** Milliseconds that the controllers' clock is ahead. */
  ahead = 0;
  private controllers: ControllerFixture | undefined;
  private readonly timers = new Set<{dueAt: number; fire: () => void}>();

  private constructor(api: FakeApi) {
    this.api = api;
  }

  static async start(): Promise<SessionBench> {
    const bench = new SessionBench(await startFakeApi());
    const {api} = bench;
    const agent = {namespace, name: 'scribe'};
    putAddresses(api, namespace);
    api.put(Agents, {
      metadata: {...agent, generation: 1},
      spec: {...revisionData().spec, image: AGENT_IMAGE},
    });
    await bench.startControllers();
    await bench.run.until('published', async () => api.get(Agents, agent)?.status?.publishedRevision);
    await bench.run.settled();
    bench.writes();
    bench.reconciles();
    return bench;
  }

  /** The controllers that run at present. */
  get run(): ControllerFixture {
    if (this.controllers === undefined) throw new Error('no controllers run');
    return this.controllers;
  }

  /** Another process takes over. */
  async restart(): Promise<void> {
    await this.run.stop();
    await this.startControllers();
  }

  async stop(): Promise<void> {
    await this.run.stop();
    await this.api.close();
  }

  /** So much time passes at once: what the controllers wanted to do by then they do now. */
  passes(ms: number): void {
    this.ahead += ms;
    for (const {dueAt, fire} of [...this.timers]) if (dueAt <= systemClock.now() + this.ahead) fire();
  }

  /** Writes since the last look, reads left out: `POST pods`, `PATCH sessions status`. */
  writes(): string[] {
    const all = this.api.requests
      .filter((r) => r.method !== 'GET')
      .map((r) => {
        const parts = r.path.split('/').filter((p) => p !== '');
        const plural = parts[parts.indexOf('namespaces') + 2] ?? '';
        return `${r.method} ${plural}${r.path.endsWith('/status') ? ' status' : ''}`;
      });
    this.api.requests.length = 0;
    return all;
  }

  /** Reconciles since the last look, of everything but sweeping. */
  reconciles(): number {
    const counts = this.run.reconciles;
    const all = Object.entries(counts).filter(([name]) => !name.startsWith('sweep'));
    for (const key of Object.keys(counts)) delete counts[key];
    return all.reduce((sum, [, times]) => sum + times, 0);
  }

  /** Somebody makes a session with a prompt. */
  create(name = 'one'): SessionObject {
    const metadata = {name, namespace, generation: 1};
    return this.api.put(Sessions, {metadata, spec: sessionSpec({prompt: 'hello'})});
  }

  /** The name of the first turn of `one`, once it runs. */
  async firstTurnRuns(): Promise<string> {
    const {api, run} = this;
    if (api.get(Sessions, {namespace, name: 'one'}) === undefined) this.create();
    await run.until('pod', async () => (await run.session('one')).status?.pod);
    await run.report('one');
    return run.until('first turn runs', async () => {
      const active = (await run.session('one')).status?.activeTurn?.name;
      return active !== undefined && (await run.turn(active)).status?.phase === 'Running' ? active : undefined;
    });
  }

  /** From the creation of `one` until it is idle after its first turn. */
  async firstTurnEnds(): Promise<void> {
    const {api, run} = this;
    this.create();
    await run.until('pod', async () => (await run.session('one')).status?.pod);
    await run.settled();
    await this.podStarts();
    // The kubelet is not counted.
    api.requests.splice(0, api.requests.length, ...api.requests.filter((r) => !r.path.includes('/pods/')));
    await run.finish(await this.firstTurnRuns());
    await run.until('idle', async () => ((await run.session('one')).status?.phase === 'Idle' ? true : undefined));
    await run.settled();
  }

  /** A further turn, from its creation until the session is idle again. */
  async furtherTurn(metadata: object): Promise<void> {
    const {api, run} = this;
    const spec = {session: 'one', input: [{text: 'more'}], delivery: 'Queue' as const};
    api.put(Turns, {metadata: {name: 'second', namespace, generation: 1, ...metadata}, spec});
    await run.until('second runs', async () =>
      (await run.turn('second')).status?.phase === 'Running' ? true : undefined,
    );
    await run.settled();
    await run.finish('second');
    await run.until('idle', async () => ((await run.session('one')).status?.turns === 2 ? true : undefined));
    await run.settled();
  }

  private async startControllers(): Promise<void> {
    const now = () => systemClock.now() + this.ahead;
    const after: Clock['after'] = (ms, fn) => {
      const cancel = () => {
        this.timers.delete(timer);
        stop();
      };
      const fire = () => {
        cancel();
        fn();
      };
      const timer = {dueAt: now() + ms, fire};
      const stop = systemClock.after(ms, fire);
      this.timers.add(timer);
      return cancel;
    };
    const clock = {...systemClock, now, after};
    this.controllers = await startControllers({connection: this.api.connection, namespace, clock});
  }

  /** The kubelet starts the pod step by step, as a real one does. */
  private async podStarts(): Promise<void> {
    const at = new Date().toISOString();
    const container = {image: '', imageID: '', ready: true, restartCount: 0};
    const conditions = [{type: 'PodScheduled', status: 'True', lastTransitionTime: at}];
    const waits = (name: string) => ({...container, name, state: {waiting: {reason: 'PodInitializing'}}});
    const runs = (name: string) => ({...container, name, state: {running: {startedAt: at}}});
    const steps = [
      {phase: 'Pending', conditions},
      {phase: 'Pending', conditions, initContainerStatuses: [waits('runner')], containerStatuses: [waits('agent')]},
      {phase: 'Pending', conditions, initContainerStatuses: [runs('runner')], containerStatuses: [waits('agent')]},
      {phase: 'Running', conditions, initContainerStatuses: [runs('runner')], containerStatuses: [runs('agent')]},
    ];
    for (const step of steps) {
      await this.run.podStatus('one', step);
      await this.run.settled();
    }
  }
}
