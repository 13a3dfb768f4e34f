import {isDeepStrictEqual} from 'node:util';
import type {Pod} from '../api/kube-pod.ts';
import {LABEL_AGENT, LABEL_SESSION} from '../api/meta.ts';
import {done, type Outcome, soonest, wait} from '../api/outcome.ts';
import {
  type QuestionObject,
  Session,
  type SessionObject,
  type SessionReason,
  Turn,
  type TurnObject,
} from '../api/v1alpha1/index.ts';
import type {ReleasePods} from '../domain/agent/isolation.ts';
import type {Archive} from '../domain/archive.ts';
import {conditionEvents} from '../domain/condition-events.ts';
import {identityOf} from '../domain/session/identity.ts';
import {planSession} from '../domain/session/plan.ts';
import {isOpen} from '../domain/session/queue.ts';
import {settle} from '../domain/session/settle.ts';
import type {Note, TurnWrite} from '../domain/session/steps.ts';
import {ownedBySession} from '../domain/session/volume.ts';
import {ControllerRevisions, Nodes, PersistentVolumeClaims, Pods} from '../kube/builtin.ts';
import {defineController} from '../kube/controller.ts';
import {isApiError} from '../kube/errors.ts';
import {Agents, Questions, Sessions, Turns} from '../kube/kinds.ts';
import type {CachedReader, ControllerDefinition, Key, ReconcileInput} from '../kube/ports.ts';
import {writeStatus} from '../kube/status.ts';
import {INDEX, within} from './caches.ts';
import type {Endpoints} from './cluster-ip.ts';
import type {Delivery} from './delivery.ts';
import {observeSession} from './session-observe.ts';
import {applySteps} from './session-steps.ts';
import {askedFor, matters, wakeOn} from './wake.ts';

/** What the Session controller is made of. */
export interface SessionParts {
  /** Turns that the controller ends are appended here first. */
  archive: Pick<Archive, 'append'>;
  delivery: Delivery;
  endpoints: Endpoints;
  release: ReleasePods;
  /** By digest. */
  runtimeImage: string;
  /** Access mode of session volumes. */
  accessMode: string;
}

/** Runs Sessions: volume, pod, queue, sleep and end. It alone decides which turn runs. */
export function sessionController(parts: SessionParts): ControllerDefinition {
  return defineController({
    name: 'session',
    resource: Sessions,
    workers: 8,
    wakes: (change) =>
      matters(change, (old, now) => askedFor(old, now) || !isDeepStrictEqual(old.status?.runner, now.status?.runner)),
    watches: [
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
    ],
    reconcile: (input) => reconcileSession(input, parts).catch(doneWithNamespace),
  });
}

/** A namespace that is being deleted takes its sessions along: nothing can be made there, and nothing needs to be. */
function doneWithNamespace(error: unknown): Outcome {
  if (isApiError(error, 'NamespaceTerminating', 'NamespaceNotFound')) return done;
  throw error;
}

/** Turns end by patches of the gateway; their Events are sent by who counts them. */
function reportEnd(
  {events}: Pick<ReconcileInput<SessionObject>, 'events'>,
  turn: TurnObject,
  status: TurnObject['status'],
): void {
  for (const event of conditionEvents(Turn.conditions, [], status?.conditions)) {
    events.record({regarding: turn, action: 'End', ...event});
  }
}

async function reconcileSession(input: ReconcileInput<SessionObject>, parts: SessionParts): Promise<Outcome> {
  const {object: session, read, write, now} = input;
  const seen = await observeSession({session, read, live: write, now}, parts);
  const plan = planSession(seen);
  const applied = await applySteps(plan.steps, {input, seen, parts});
  if (plan.steps.some((s) => s.do === 'DeleteSession')) return plan.outcome;
  const status = settle(seen, plan, applied);
  await writeStatus({write, resource: Sessions, object: session, status});
  for (const turn of plan.turnWrites) await writeTurn(input, turn);
  for (const turn of plan.adopt) await adopt(input, turn);
  report(input, status, plan.notes, applied.pod);
  for (const turn of plan.ended) reportEnd(input, turn, turn.status);
  const again = applied.againMs ?? applied.refused?.retryMs;
  return again === undefined ? plan.outcome : soonest(plan.outcome, wait(again));
}

async function writeTurn({write}: ReconcileInput<SessionObject>, {turn, status}: TurnWrite): Promise<void> {
  await writeStatus({write, resource: Turns, object: turn, status}).catch((error: unknown) => {
    if (!isApiError(error, 'NotFound')) throw error;
  });
}

/** A turn made with plain kubectl becomes the Session's, so that it goes with it. */
async function adopt({write, object: session}: ReconcileInput<SessionObject>, turn: TurnObject): Promise<void> {
  const {namespace, name, uid, ownerReferences} = turn.metadata;
  const owner = ownedBySession(identityOf(session));
  const path = '/metadata/ownerReferences';
  const value = [...(ownerReferences ?? []), {...owner, controller: ownerReferences === undefined}];
  await write
    .patchJson(
      Turns,
      {namespace, name},
      {uid, tests: {[path]: ownerReferences ?? null}, ops: [{op: 'add', path, value}]},
    )
    .catch((error: unknown) => {
      if (!isApiError(error, 'NotFound')) throw error;
    });
}

function report(
  {events, object: session}: ReconcileInput<SessionObject>,
  status: NonNullable<SessionObject['status']>,
  notes: readonly Note[],
  pod: {name: string} | undefined,
): void {
  const send = (reason: SessionReason, action: string, note: string) => {
    const type = Session.conditions.reasons[reason].event;
    if (type !== 'none') events.record({regarding: session, type, reason, action, note});
  };
  if (pod !== undefined) send('PodCreated', 'CreatePod', `made pod ${pod.name} for attempt ${status.attempt ?? 0}`);
  for (const {reason, action, note} of notes) send(reason, action, note);
  for (const event of conditionEvents(Session.conditions, session.status?.conditions, status.conditions)) {
    events.record({regarding: session, action: 'Report', ...event});
  }
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
  return (
    askedFor(old, now) ||
    (old.status?.phase !== now.status?.phase && now.status?.phase !== 'Queued' && now.status?.phase !== 'Running')
  );
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
