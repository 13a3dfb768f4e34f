import {isDeepStrictEqual} from 'node:util';
import type {Pod} from '../api/kube-pod.ts';
import {LABEL_AGENT, LABEL_SESSION} from '../api/meta.ts';
import type {QuestionObject, SessionObject, TurnObject} from '../api/v1alpha1/index.ts';
import {isOpen} from '../domain/session/queue.ts';
import {isTerminal} from '../domain/turn/status.ts';
import {ControllerRevisions, Nodes, PersistentVolumeClaims, Pods} from '../kube/builtin.ts';
import {Agents, Questions, Sessions, Turns} from '../kube/kinds.ts';
import type {AnyWatch, CachedReader, Change, Key} from '../kube/ports.ts';
import {INDEX, within} from './caches.ts';
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
  wakeOn({resource: Pods, changed: podChanged, keys: labelled}),
  wakeOn({resource: PersistentVolumeClaims, changed: askedFor, keys: labelled}),
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
  wakeOn({
    resource: Nodes,
    changed: (old, now) => readiness(old) !== readiness(now),
    keys: (n, read) => read.of(Pods).byIndex(INDEX.node, n.metadata.name).flatMap(labelled),
  }),
];

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

/** What a start or an end is judged by; progress that is as expected wakes nobody. */
function podChanged(old: Pod, now: Pod): boolean {
  return askedFor(old, now) || JSON.stringify(podFacts(old)) !== JSON.stringify(podFacts(now));
}

const ON_THE_WAY = ['ContainerCreating', 'PodInitializing'];

function podFacts({spec, status}: Pod): unknown {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const scheduled = status?.conditions?.find((c) => c.type === 'PodScheduled' && c.status === 'False');
  return [
    status?.phase === 'Failed' || status?.phase === 'Succeeded' ? status.phase : '',
    scheduled?.message,
    [...(spec.initContainers ?? []), ...spec.containers].map((c) => c.image),
    spec.ephemeralContainers?.map((c) => c.name),
    all.map(({name, state}) => [
      name,
      ON_THE_WAY.includes(state?.waiting?.reason ?? '') ? '' : state?.waiting?.reason,
      state?.terminated?.exitCode === 0 && name !== 'agent' ? undefined : state?.terminated?.exitCode,
    ]),
  ];
}

function readiness(node: {
  status?: {conditions?: readonly {type: string; status: string}[] | undefined} | undefined;
}): string {
  return node.status?.conditions?.find((c) => c.type === 'Ready')?.status ?? '';
}
