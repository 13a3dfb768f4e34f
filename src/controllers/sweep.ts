import type {KubeObject} from '../api/kube-object.ts';
import {LABEL_AGENT_UID, LABEL_MANAGED_BY, MANAGED_BY} from '../api/meta.ts';
import {done, type Outcome, wait} from '../api/outcome.ts';
import {planSweep} from '../domain/agent/sweep.ts';
import {ControllerRevisions, NetworkPolicies, Pods, ServiceAccounts} from '../kube/builtin.ts';
import {defineController} from '../kube/controller.ts';
import type {ControllerDefinition, ReconcileInput} from '../kube/controller-ports.ts';
import {isApiError} from '../kube/errors.ts';
import {Agents, Sessions} from '../kube/kinds.ts';
import type {CachedReader, Client} from '../kube/ports.ts';
import type {Resource} from '../kube/resource.ts';

/** How one kind of shared object is swept. */
interface Sweeper<T extends KubeObject> {
  name: string;
  resource: Resource<T>;
  /** From the caches: does something live refer to it? */
  referenced(object: T, read: CachedReader): boolean;
  /** The same question to the API server, asked once more right before the deletion. */
  referencedLive(object: T, write: Client): Promise<boolean>;
}

/** Sweeps revisions that no Session runs and no Agent publishes, and the isolation objects of Agents without pods. */
export function sweepControllers(): ControllerDefinition[] {
  return [
    sweepController({
      name: 'sweep-revisions',
      resource: ControllerRevisions,
      referenced: (revision, read) =>
        revisionUsed(revision, read.of(Sessions).list(ns(revision)), read.of(Agents).list(ns(revision))),
      referencedLive: async (revision, write) => {
        const [sessions, agents] = await Promise.all([
          write.list(Sessions, {namespace: ns(revision)}),
          write.list(Agents, {namespace: ns(revision)}),
        ]);
        return revisionUsed(revision, sessions.items, agents.items);
      },
    }),
    ...[
      sweepController({name: 'sweep-policies', resource: NetworkPolicies, ...byAgent}),
      sweepController({name: 'sweep-accounts', resource: ServiceAccounts, ...byAgent}),
    ],
  ];
}

/** Isolation objects stay while the Agent lives or any pod of it is left in the API: without a policy a pod is open. */
const byAgent = {
  referenced: (object: KubeObject, read: CachedReader) =>
    agentUsed(object, read.of(Agents).list(ns(object)), read.of(Pods).list(ns(object))),
  referencedLive: async (object: KubeObject, write: Client) => {
    const [agents, pods] = await Promise.all([
      write.list(Agents, {namespace: ns(object)}),
      write.list(Pods, {namespace: ns(object), labelSelector: LABEL_AGENT_UID}),
    ]);
    return agentUsed(object, agents.items, pods.items);
  },
};

function sweepController<T extends KubeObject>(sweeper: Sweeper<T>): ControllerDefinition {
  const unreferencedSince = new Map<string, Date>();
  return defineController<T>({
    name: sweeper.name,
    resource: sweeper.resource,
    workers: 1,
    reconcile: (input) => sweepOne(sweeper, unreferencedSince, input),
  });
}

async function sweepOne<T extends KubeObject>(
  sweeper: Sweeper<T>,
  unreferencedSince: Map<string, Date>,
  {object, read, write, now}: ReconcileInput<T>,
): Promise<Outcome> {
  const {uid, labels, deletionTimestamp} = object.metadata;
  if (
    labels?.[LABEL_MANAGED_BY] !== MANAGED_BY ||
    labels[LABEL_AGENT_UID] === undefined ||
    deletionTimestamp !== undefined
  )
    return done;
  const referenced = sweeper.referenced(object, read);
  const decision = planSweep({referenced, unreferencedSince: unreferencedSince.get(uid), now});
  if (decision.kind === 'keep') {
    unreferencedSince.delete(uid);
    return done;
  }
  if (decision.kind === 'later') {
    if (!unreferencedSince.has(uid)) unreferencedSince.set(uid, now);
    return wait(decision.afterMs);
  }
  unreferencedSince.delete(uid);
  if (await sweeper.referencedLive(object, write)) return done;
  await write
    .delete(sweeper.resource, {namespace: ns(object), name: object.metadata.name}, {uid})
    .catch((error: unknown) => {
      if (!isApiError(error, 'NotFound', 'Conflict')) throw error;
    });
  return done;
}

const ns = (object: KubeObject): string => object.metadata.namespace ?? '';

function revisionUsed(
  revision: KubeObject,
  sessions: readonly {status?: {revision?: string | undefined} | undefined}[],
  agents: readonly {status?: {publishedRevision?: string | undefined} | undefined}[],
): boolean {
  const {name} = revision.metadata;
  return sessions.some((s) => s.status?.revision === name) || agents.some((a) => a.status?.publishedRevision === name);
}

function agentUsed(object: KubeObject, agents: readonly KubeObject[], pods: readonly KubeObject[]): boolean {
  const uid = object.metadata.labels?.[LABEL_AGENT_UID];
  return agents.some((a) => a.metadata.uid === uid) || pods.some((p) => p.metadata.labels?.[LABEL_AGENT_UID] === uid);
}
