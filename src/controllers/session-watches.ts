import {isDeepStrictEqual} from 'node:util';
import type {ContainerStatus, Pod} from '../api/kube-pod.ts';
import {LABEL_AGENT, LABEL_AGENT_UID, LABEL_SESSION} from '../api/meta.ts';
import {CONTAINER} from '../api/pod.ts';
import type {QuestionObject, SessionObject, TurnObject} from '../api/v1alpha1/index.ts';
import {identityOf} from '../domain/session/identity.ts';
import {podName} from '../domain/session/pod.ts';
import {isOpen} from '../domain/session/queue.ts';
import {startedLate} from '../domain/session/start.ts';
import {isTerminal} from '../domain/turn/status.ts';
import {ControllerRevisions, Nodes, PersistentVolumeClaims, Pods, ServiceAccounts} from '../kube/builtin.ts';
import type {AnyWatch, Key} from '../kube/controller-ports.ts';
import {Agents, Questions, Sessions, Turns} from '../kube/kinds.ts';
import type {CachedReader, Change} from '../kube/ports.ts';
import {podsOfAgent} from './agent-shared.ts';
import {INDEX, within} from './caches.ts';
import {addressesOf, type ClusterAddress, ClusterAddresses, type Endpoints} from './cluster-ip.ts';
import {askedFor, matters, wakeOn} from './wake.ts';

/** What others change of a Session: people its spec, the gateway its runner. The rest of the status is our own writing. */
export function sessionChanged(change: Change<SessionObject>): boolean {
  return matters(
    change,
    (old, now) => askedFor(old, now) || !isDeepStrictEqual(old.status?.runner, now.status?.runner),
  );
}

/** What wakes a Session beside itself. Each reconcile costs, so changes that mean nothing here pass by. */
export const sessionWatches: readonly AnyWatch[] = [
  wakeOn({resource: Turns, changed: turnChanged, keys: (t) => [keyOf(t, t.spec.session)]}),
  wakeOn({resource: Questions, changed: questionChanged, keys: (q) => [keyOf(q, q.spec.session)]}),
  wakeOn({resource: Pods, changed: podChanged, added: unexpected, keys: labelled}),
  // Nothing waits for a claim to appear: who made it goes on by itself. One that goes is a loss.
  wakeOn({resource: PersistentVolumeClaims, changed: askedFor, added: () => false, keys: labelled}),
  wakeOn({
    resource: Agents,
    changed: (old, now) => old.status !== now.status,
    keys: (a, read) => waiting(a, a.metadata.name, read),
  }),
  wakeOn({
    resource: ControllerRevisions,
    changed: askedFor,
    keys: (r, read) => waiting(r, r.metadata.labels?.[LABEL_AGENT] ?? '', read),
  }),
  // Made again or on its way out, it voids the tokens of the pods that are there already; the first one has none yet.
  wakeOn({
    resource: ServiceAccounts,
    changed: ({metadata: old}, {metadata: now}) =>
      old.uid !== now.uid || old.deletionTimestamp !== now.deletionTimestamp,
    keys: ({metadata: m}, read) => podsOfAgent(read, m.namespace, m.labels?.[LABEL_AGENT_UID]).flatMap(labelled),
  }),
  wakeOn({
    resource: Nodes,
    changed: (old, now) => readiness(old) !== readiness(now),
    keys: (n, read) => read.of(Pods).byIndex(INDEX.node, n.metadata.name).flatMap(labelled),
  }),
];

/**
 * Gateway or relay have another address: pods were told the one before, and a start may have waited for it. A Service that is
 * made anew is gone for a moment, which changes nothing yet.
 */
export function addressWatch(endpoints: Endpoints): AnyWatch {
  const ours = ({metadata: m}: ClusterAddress) =>
    m.namespace === endpoints.namespace && (m.name === endpoints.gateway || m.name === endpoints.egress);
  return wakeOn({
    resource: ClusterAddresses,
    changed: (old, now) => old.spec.clusterIP !== now.spec.clusterIP,
    keys: (service, read) =>
      ours(service) && addressesOf(read, endpoints) !== undefined
        ? read
            .of(Sessions)
            .list()
            .filter(needsAddress)
            .map((s) => keyOf(s, s.metadata.name))
        : [],
  });
}

function needsAddress({status}: SessionObject): boolean {
  return status?.pod !== undefined || status?.phase === 'Starting';
}

function keyOf(object: {metadata: {namespace?: string | undefined}}, name: string): Key {
  return {namespace: object.metadata.namespace ?? '', name};
}

function labelled(object: {metadata: Pod['metadata']}): Key[] {
  const session = object.metadata.labels?.[LABEL_SESSION];
  return session === undefined ? [] : [keyOf(object, session)];
}

/** Sessions of an Agent that have nothing to run yet: only they care what is published. */
function waiting(object: {metadata: {namespace?: string | undefined}}, agent: string, read: CachedReader): Key[] {
  const sessions = read.of(Sessions).byIndex(INDEX.agent, within(object.metadata.namespace, agent));
  return sessions
    .filter((s) => s.status?.phase === undefined || s.status.phase === 'Pending')
    .map((s) => keyOf(s, s.metadata.name));
}

/** Ends are written by the gateway; what the controller itself wrote needs no second look. */
function turnChanged(old: TurnObject, now: TurnObject): boolean {
  return askedFor(old, now) || isTerminal(old) !== isTerminal(now);
}

function questionChanged(old: QuestionObject, now: QuestionObject): boolean {
  return old.metadata.uid !== now.metadata.uid || isOpen(old) !== isOpen(now);
}

/** False for the pod of the present attempt: the reconcile that makes it, or tries again, goes on by itself. */
function unexpected(pod: Pod, read: CachedReader): boolean {
  const [key] = labelled(pod);
  const session = key === undefined ? undefined : read.of(Sessions).get(key);
  if (session === undefined || session.status?.attempt === undefined) return true;
  const owned = pod.metadata.ownerReferences?.some((o) => o.uid === session.metadata.uid) === true;
  return !owned || pod.metadata.name !== podName(identityOf(session), session.status.attempt);
}

/** What a start or an end is judged by; progress that is as expected wakes nobody. */
function podChanged(old: Pod, now: Pod): boolean {
  if (askedFor(old, now)) return true;
  // Of a pod on its way out nothing counts any more but that it is gone.
  if (now.metadata.deletionTimestamp !== undefined) return false;
  return JSON.stringify(podFacts(old)) !== JSON.stringify(podFacts(now));
}

const ON_THE_WAY = ['ContainerCreating', 'PodInitializing'];

function podFacts(pod: Pod): unknown {
  const {spec, status} = pod;
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const scheduled = status?.conditions?.find((c) => c.type === 'PodScheduled' && c.status === 'False');
  return [
    status?.phase === 'Failed' || status?.phase === 'Succeeded' ? status.phase : '',
    scheduled?.message,
    [...(spec.initContainers ?? []), ...spec.containers].map((c) => c.image),
    spec.ephemeralContainers?.map((c) => c.name),
    all.flatMap((c) => containerFact(pod, c) ?? []),
  ];
}

/** Undefined while a container is on its way, runs, or ended as it should: not there yet counts the same. */
function containerFact(pod: Pod, {name, state}: ContainerStatus): string | undefined {
  const {waiting, running, terminated} = state ?? {};
  if (waiting?.reason !== undefined && !ON_THE_WAY.includes(waiting.reason)) return `${name} ${waiting.reason}`;
  if (running !== undefined) return startedLate(pod, running.startedAt) ? `${name} runs` : undefined;
  if (terminated === undefined || (terminated.exitCode === 0 && name !== CONTAINER.agent)) return undefined;
  return `${name} ended ${terminated.exitCode}`;
}

function readiness(node: {
  status?: {conditions?: readonly {type: string; status: string}[] | undefined} | undefined;
}): string {
  return node.status?.conditions?.find((c) => c.type === 'Ready')?.status ?? '';
}
