import {done, type Outcome, soonest, wait} from '../api/outcome.ts';
import {Session, type SessionObject, type SessionReason, Turn, type TurnObject} from '../api/v1alpha1/index.ts';
import type {ReleasePods} from '../domain/agent/isolation.ts';
import type {Archive} from '../domain/archive.ts';
import {ArchiveWaits} from '../domain/archive-waits.ts';
import {conditionEvents} from '../domain/condition-events.ts';
import {identityOf} from '../domain/session/identity.ts';
import {planSession, type SessionPlan} from '../domain/session/plan.ts';
import {settle} from '../domain/session/settle.ts';
import type {Applied, Note, TurnWrite} from '../domain/session/steps.ts';
import {ownedBySession} from '../domain/session/volume.ts';
import {defineController} from '../kube/controller.ts';
import type {ControllerDefinition, ReconcileInput} from '../kube/controller-ports.ts';
import {isApiError} from '../kube/errors.ts';
import {Sessions, Turns} from '../kube/kinds.ts';
import {writeStatus} from '../kube/status.ts';
import type {Endpoints} from './cluster-ip.ts';
import type {Delivery} from './delivery.ts';
import {ifThere} from './if-there.ts';
import {observeSession} from './session-observe.ts';
import {recordStatus} from './session-record.ts';
import {applySteps, isFinal} from './session-steps.ts';
import {addressWatch, sessionChanged, sessionWatches} from './session-watches.ts';

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
  const archiveWaits = new ArchiveWaits();
  return defineController({
    name: 'session',
    resource: Sessions,
    workers: 8,
    wakes: sessionChanged,
    watches: [...sessionWatches, addressWatch(parts.endpoints)],
    reconcile: (input) => reconcileSession(input, parts, archiveWaits).catch(doneWithNamespace),
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

async function reconcileSession(
  input: ReconcileInput<SessionObject>,
  parts: SessionParts,
  archiveWaits: ArchiveWaits,
): Promise<Outcome> {
  const {object: session, read, write, now} = input;
  const seen = await observeSession({session, read, live: write, now}, parts);
  const plan = planSession(seen);
  const applied = await applySteps(plan.steps, {input, seen, parts, archiveWaits});
  if (plan.steps.some((s) => s.do === 'DeleteSession')) return plan.outcome;
  const status = settle(seen, plan, applied);
  const final = plan.steps.some(isFinal);
  const written = await ifThere(recordStatus(write, {session, status, final}));
  if (written === undefined) return done;
  // Told before what follows may fail: once the status is written, nothing tells it again.
  report(input, status, plan.notes, applied.pod);
  if (applied.failed !== undefined) throw applied.failed.error;
  for (const turn of plan.ended) reportEnd(input, turn, turn.status);
  for (const turn of plan.turnWrites) await writeTurn(input, turn);
  for (const turn of plan.adopt) await adopt(input, turn);
  const begun = status.attempt !== session.status?.attempt;
  return nextLook(plan, applied, begun);
}

/** An attempt that has begun goes on at once; without one there is no next step, and the same would be refused without end. */
function nextLook({outcome, steps}: SessionPlan, {againMs, refused, pod}: Applied, begun: boolean): Outcome {
  const again = againMs ?? refused?.retryMs;
  if (again === undefined) return outcome;
  const atOnce = outcome.kind === 'wait' && outcome.afterMs === 0;
  // The time of the first look at a pod means nothing without one.
  const podless = pod === undefined && steps.some((s) => s.do === 'CreatePod');
  return (atOnce && !begun) || podless ? wait(again) : soonest(outcome, wait(again));
}

async function writeTurn({write}: ReconcileInput<SessionObject>, {turn, status}: TurnWrite): Promise<void> {
  await ifThere(writeStatus({write, resource: Turns, object: turn, status}));
}

/** A turn made with plain kubectl becomes the Session's, so that it goes with it. */
async function adopt({write, object: session}: ReconcileInput<SessionObject>, turn: TurnObject): Promise<void> {
  const {namespace, name, uid, ownerReferences} = turn.metadata;
  const owner = ownedBySession(identityOf(session));
  const path = '/metadata/ownerReferences';
  const value = [...(ownerReferences ?? []), {...owner, controller: ownerReferences === undefined}];
  const patch = {uid, tests: {[path]: ownerReferences ?? null}, ops: [{op: 'add', path, value}]} as const;
  await ifThere(write.patchJson(Turns, {namespace, name}, patch));
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
