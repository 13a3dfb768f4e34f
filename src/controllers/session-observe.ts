import type {KubeObject, ObjectRef} from '../api/kube-object.ts';
import type {Pod} from '../api/kube-pod.ts';
import {ANNOTATION_ACCOUNT} from '../api/meta.ts';
import {CONTAINER} from '../api/pod.ts';
import type {AgentObject, SessionObject} from '../api/v1alpha1/index.ts';
import {checkedRevision, chooseRevision} from '../domain/session/revision-choice.ts';
import {reported} from '../domain/session/runner-report.ts';
import type {NodeSeen, PodSeen, SessionSeen} from '../domain/session/seen.ts';
import {scheduledAt, WARNINGS_AFTER_MS} from '../domain/session/start.ts';
import {ControllerRevisions, Events, Nodes, PersistentVolumeClaims, Pods, ServiceAccounts} from '../kube/builtin.ts';
import {isApiError} from '../kube/errors.ts';
import {Agents, Questions, Turns} from '../kube/kinds.ts';
import type {CachedReader, LiveReader} from '../kube/ports.ts';
import type {Resource} from '../kube/resource.ts';
import {INDEX, within} from './caches.ts';
import {addressesOf} from './cluster-ip.ts';
import type {SessionParts} from './session.ts';

/** All reads of one reconcile. Live reads stand only where a cache that lags could cost a pod, a volume or a turn. */
export async function observeSession(
  {session, read, live, now}: {session: SessionObject; read: CachedReader; live: LiveReader; now: Date},
  parts: SessionParts,
): Promise<SessionSeen> {
  const {namespace, name} = session.metadata;
  const status = session.status;
  const key = within(namespace, name);
  const pod = await podOf(session, read, live);
  const agent = await agentOf(session, read, live);
  const published = await revision(agent?.status?.publishedRevision, {namespace, read, live});
  const current = await revision(status?.revision, {namespace, read, live});
  return {
    session,
    now,
    choice: chooseRevision({session, agent, published, agents: agent === undefined ? agentNames(session, read) : []}),
    current: current === undefined ? undefined : checkedRevision(current),
    pod,
    strays: strays(session, read),
    volume: await volumeOf(session, read, live),
    node: await nodeOf(pod, read, live),
    account: await accountOf(pod, read, live),
    turns: read.of(Turns).byIndex(INDEX.session, key),
    questions: read
      .of(Questions)
      .byIndex(INDEX.session, key)
      .filter((q) => belongs(q, session)),
    podWarnings: await warnings(session, pod, {live, now}),
    addresses: addressesOf(read, parts.endpoints),
    settings: {
      runtimeImage: parts.runtimeImage,
      accessMode: parts.accessMode,
      services: parts.endpoints,
      delivery: parts.delivery.kind,
      maySwitch: parts.delivery.maySwitch,
    },
  };
}

/**
 * The caches of two kinds do not keep step. Agent and Session may have been applied in one go, and "not found" alarms people;
 * who mends an Agent and then raises `restart` wants the mended one.
 */
async function agentOf(session: SessionObject, read: CachedReader, live: LiveReader): Promise<AgentObject | undefined> {
  const ref = {namespace: session.metadata.namespace, name: session.spec.agent};
  const restarts = session.spec.restart > (session.status?.restart ?? 0);
  return (restarts ? undefined : read.of(Agents).get(ref)) ?? (await live.find(Agents, ref));
}

function agentNames({metadata}: SessionObject, read: CachedReader): string[] {
  return read
    .of(Agents)
    .list(metadata.namespace)
    .map((a) => a.metadata.name);
}

/** A Question of an earlier Session of this name is on its way out with its owner. */
function belongs(object: KubeObject, session: SessionObject): boolean {
  const owners = object.metadata.ownerReferences?.filter((o) => o.kind === 'Session') ?? [];
  return owners.length === 0 || owners.some((o) => o.uid === session.metadata.uid);
}

/** From the cache if it has this very object, else from the API server: "gone" is only ever said after a live look. */
async function sameObject<T extends KubeObject>(
  resource: Resource<T>,
  wanted: ObjectRef & {uid: string},
  {read, live}: {read: CachedReader; live: LiveReader},
): Promise<T | undefined> {
  const ref = {namespace: wanted.namespace, name: wanted.name};
  const cached = read.of(resource).get(ref);
  if (cached?.metadata.uid === wanted.uid) return cached;
  const found = await live.find(resource, ref);
  return found?.metadata.uid === wanted.uid ? found : undefined;
}

async function podOf(session: SessionObject, read: CachedReader, live: LiveReader): Promise<PodSeen> {
  const recorded = session.status?.pod;
  if (recorded === undefined) return {kind: 'None'};
  const pod = await sameObject(Pods, {...recorded, namespace: session.metadata.namespace}, {read, live});
  return pod === undefined ? {kind: 'Gone', ...recorded} : {kind: 'Present', pod};
}

async function volumeOf(session: SessionObject, read: CachedReader, live: LiveReader): Promise<SessionSeen['volume']> {
  const recorded = session.status?.volume;
  if (recorded === undefined) return 'None';
  const ref = {...recorded, namespace: session.metadata.namespace};
  return (await sameObject(PersistentVolumeClaims, ref, {read, live})) === undefined ? 'Lost' : 'Present';
}

/** Pods that this Session owns beside the recorded one. */
function strays(session: SessionObject, read: CachedReader): readonly Pod[] {
  const {uid} = session.metadata;
  const recorded = session.status?.pod?.uid;
  return read
    .of(Pods)
    .byIndex(INDEX.owner, uid)
    .filter((p) => p.metadata.uid !== recorded);
}

async function nodeOf(pod: PodSeen, read: CachedReader, live: LiveReader): Promise<NodeSeen> {
  const name = pod.kind === 'Present' ? pod.pod.spec.nodeName : undefined;
  if (name === undefined) return 'Fine';
  const node = read.of(Nodes).get({name}) ?? (await live.find(Nodes, {name}));
  if (node === undefined) return 'Gone';
  // Unknown = the node does not report; False = it reports a fault of its own, and its pods may well be running.
  const ready = node.status?.conditions?.find((c) => c.type === 'Ready')?.status;
  return ready === 'Unknown' ? 'Unreachable' : 'Fine';
}

/** A cache that lags may show the account before: that another one is there is only ever said after a live look. */
async function accountOf(pod: PodSeen, read: CachedReader, live: LiveReader): Promise<SessionSeen['account']> {
  if (pod.kind !== 'Present') return undefined;
  const {metadata, spec} = pod.pod;
  const ref = {namespace: metadata.namespace, name: spec.serviceAccountName ?? ''};
  const cached = read.of(ServiceAccounts).get(ref)?.metadata;
  const madeWith = metadata.annotations?.[ANNOTATION_ACCOUNT];
  if (madeWith === undefined || cached === undefined || cached.uid === madeWith) return cached;
  return (await live.find(ServiceAccounts, ref))?.metadata;
}

async function revision(
  name: string | undefined,
  {namespace, read, live}: {namespace: string | undefined; read: CachedReader; live: LiveReader},
) {
  if (name === undefined) return undefined;
  const ref = {namespace, name};
  return read.of(ControllerRevisions).get(ref) ?? (await live.find(ControllerRevisions, ref));
}

/** Warnings of the kubelet about a pod that takes long to start: a missing Secret of a volume is told nowhere else. */
async function warnings(
  session: SessionObject,
  pod: PodSeen,
  {live, now}: {live: LiveReader; now: Date},
): Promise<string[]> {
  if (pod.kind !== 'Present' || reported(session.status ?? {}, pod.pod.metadata.uid) !== undefined) return [];
  const since = scheduledAt(pod.pod);
  const agent = pod.pod.status?.containerStatuses?.find((c) => c.name === CONTAINER.agent);
  if (since === undefined || now.getTime() - since < WARNINGS_AFTER_MS || agent?.state?.running !== undefined)
    return [];
  try {
    const {namespace, name} = pod.pod.metadata;
    const found = await live.list(Events, {namespace, fieldSelector: `regarding.name=${name},type=Warning`});
    return found.items.filter((e) => e.regarding.uid === pod.pod.metadata.uid).flatMap((e) => e.note ?? []);
  } catch (error) {
    // A better message is worth a read, but no failure.
    if (isApiError(error, 'Forbidden', 'Invalid', 'NotServed')) return [];
    throw error;
  }
}
