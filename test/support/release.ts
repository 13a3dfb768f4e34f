import {randomBytes} from 'node:crypto';
import {vi} from 'vitest';
import type {z} from 'zod';
import {type Cluster, openCluster} from '../../hack/cluster/cluster.ts';
import {readSettings} from '../../hack/cluster/settings.ts';
import {buildImages, type Images, imageCache} from '../../hack/image/build.ts';
import type {Pod} from '../../src/api/kube-pod.ts';
import type {Agent, QuestionObject, Session, SessionObject, TurnObject} from '../../src/api/v1alpha1/index.ts';
import {Pods} from '../../src/kube/builtin.ts';
import {createClient} from '../../src/kube/client.ts';
import {Questions, Sessions, Turns} from '../../src/kube/kinds.ts';
import {fromKubeconfig} from '../../src/kube/kubeconfig.ts';
import type {Client} from '../../src/kube/ports.ts';

/** What tests say of an Agent: the image is the scripted agent's unless they name another. */
export type AgentInput = Partial<z.input<typeof Agent.spec>>;

/** The installed release, as tests use it: kubectl for what people do, a typed client for what is looked at. */
export interface Release {
  cluster: Cluster;
  images: Images;
  client: Client;
  kubectl(args: readonly string[], stdin?: string): Promise<string>;
}

/** How long a session may take to answer on a loaded machine; a bound, not an expectation. */
export const LONG = 120_000;

/** Opens the release that `npm test` has installed. */
export async function openRelease(): Promise<Release> {
  const cluster = await openCluster();
  const given = process.env['CARREL_TEST_IMAGES'];
  const images: Images =
    given === undefined
      ? await buildImages({
          registry: cluster.registry,
          crane: cluster.tools.crane,
          cache: imageCache(readSettings().cache),
        })
      : JSON.parse(given);
  return releaseOf(cluster, images);
}

/** The release in a cluster of a test's own. */
export function releaseOf(cluster: Cluster, images: Images): Release {
  const log = {debug() {}, info() {}, warn() {}, error() {}};
  const client = createClient({connection: fromKubeconfig(cluster.kubeconfigPath), fieldManager: 'carrel-test', log});
  return {cluster, images, client, kubectl: (args, stdin) => cluster.kubectl(args, stdin)};
}

/** A namespace of a test's own; `remove` deletes it without waiting. */
export class Place {
  readonly release: Release;
  readonly namespace: string;

  constructor(release: Release, namespace: string) {
    this.release = release;
    this.namespace = namespace;
  }

  /** Makes a namespace whose name nobody else has. */
  static async make(release: Release, prefix: string): Promise<Place> {
    const namespace = `${prefix}-${randomBytes(3).toString('hex')}`;
    await release.kubectl(['create', 'namespace', namespace]);
    return new Place(release, namespace);
  }

  remove(): Promise<string> {
    return this.release.kubectl(['delete', 'namespace', this.namespace, '--wait=false']);
  }

  /** `kubectl -n <namespace> ...`. */
  kubectl(args: readonly string[], stdin?: string): Promise<string> {
    return this.release.kubectl(['-n', this.namespace, ...args], stdin);
  }

  /** Creates one object from spec and name. */
  async create(kind: 'Agent' | 'Session' | 'Turn', name: string, spec: object): Promise<void> {
    const object = {apiVersion: 'carrel.dev/v1alpha1', kind, metadata: {name}, spec};
    await this.kubectl(['create', '-f', '-'], JSON.stringify(object));
  }

  /** Creates an Agent that runs the scripted agent. */
  agent(name: string, spec: AgentInput = {}): Promise<void> {
    const command = ['/usr/local/bin/node', '/app/scripted-agent.js'];
    return this.create('Agent', name, {image: this.release.images.scriptedAgent, command, ...spec});
  }

  session(name: string, spec: z.input<typeof Session.spec>): Promise<void> {
    return this.create('Session', name, spec);
  }

  turn(name: string, session: string, text: string, more: object = {}): Promise<void> {
    return this.create('Turn', name, {session, input: [{text}], ...more});
  }

  get(name: string): Promise<SessionObject> {
    return this.release.client.get(Sessions, {namespace: this.namespace, name});
  }

  async turns(session: string): Promise<readonly TurnObject[]> {
    const all = await this.release.client.list(Turns, {namespace: this.namespace});
    return all.items
      .filter((t) => t.spec.session === session)
      .sort((a, b) => (a.status?.sequence ?? 0) - (b.status?.sequence ?? 0));
  }

  async questions(session: string): Promise<readonly QuestionObject[]> {
    const all = await this.release.client.list(Questions, {namespace: this.namespace});
    return all.items.filter((q) => q.spec.session === session);
  }

  async pods(): Promise<readonly Pod[]> {
    return (await this.release.client.list(Pods, {namespace: this.namespace})).items;
  }

  /** Waits until the Session is as `probe` wants it, and returns it; the error shows the last status. */
  async untilSession(
    name: string,
    probe: (session: SessionObject) => boolean,
    timeoutMs = LONG,
  ): Promise<SessionObject> {
    let last: SessionObject | undefined;
    return until(timeoutMs, async () => {
      last = await this.get(name);
      if (!probe(last)) throw new Error(`session ${name} is still ${JSON.stringify(last.status)}`);
      return last;
    });
  }

  /** Waits until that turn of the Session, counted from 1 in order of admission, has ended. */
  async untilTurn(session: string, sequence: number, timeoutMs = LONG): Promise<TurnObject> {
    return until(timeoutMs, async () => {
      const turn = (await this.turns(session)).find((t) => t.status?.sequence === sequence);
      if (turn?.status?.finishedAt === undefined) {
        const seen = await this.get(session);
        throw new Error(
          `turn ${sequence} of ${session} is ${JSON.stringify(turn?.status)}; session: ${JSON.stringify(seen.status)}`,
        );
      }
      return turn;
    });
  }
}

/** Tries until `probe` no longer throws, and returns what it returned. */
export function until<T>(timeoutMs: number, probe: () => Promise<T>): Promise<T> {
  return vi.waitFor(probe, {timeout: timeoutMs, interval: 200});
}
