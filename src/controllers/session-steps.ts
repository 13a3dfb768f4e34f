import {isDeepStrictEqual} from 'node:util';
import type {KubeObject, ObjectRef} from '../api/kube-object.ts';
import {type SessionObject, Turn} from '../api/v1alpha1/index.ts';
import {ARCHIVE_TROUBLE, ArchiveError} from '../domain/archive.ts';
import type {ArchiveWaits} from '../domain/archive-waits.ts';
import {conditionEvents} from '../domain/condition-events.ts';
import {TAKEN_RETRY_MS, takenMessage} from '../domain/name-taken.ts';
import {identityOf} from '../domain/session/identity.ts';
import {initialTurn} from '../domain/session/initial-turn.ts';
import type {SessionSeen} from '../domain/session/seen.ts';
import type {Applied, Refused, Step} from '../domain/session/steps.ts';
import {buildVolumeClaim} from '../domain/session/volume.ts';
import {endRecord} from '../domain/turn/record.ts';
import {endedStatus} from '../domain/turn/status.ts';
import {PersistentVolumeClaims, Pods} from '../kube/builtin.ts';
import type {ReconcileInput} from '../kube/controller-ports.ts';
import {ApiError, isApiError} from '../kube/errors.ts';
import {Sessions, Turns} from '../kube/kinds.ts';
import type {Client} from '../kube/ports.ts';
import type {Resource} from '../kube/resource.ts';
import {writeStatus} from '../kube/status.ts';
import {ifThere} from './if-there.ts';
import type {SessionParts} from './session.ts';
import {createPod} from './session-pod.ts';
import {ownPart} from './session-record.ts';

/** What every step needs. */
export interface StepContext {
  input: ReconcileInput<SessionObject>;
  seen: SessionSeen;
  parts: SessionParts;
  /** Sessions whose turns could not be ended, by UID. */
  archiveWaits: ArchiveWaits;
}

// What no precondition guards against a Session that is read from a cache far behind: a second pod, the end of a good one, the
// end of a turn that runs in it.
const FINAL: readonly Step['do'][] = ['CreatePod', 'DeletePod', 'EndTurn'];

// Steps of the queue alone. They wait for the archive or for a quota; pod, volume and attempt are recorded all the same.
const QUEUE: readonly Step['do'][] = ['CreateInitialTurn', 'EndTurn', 'DeleteTurn'];

/** True for steps that cannot be taken back. */
export function isFinal(step: Step): boolean {
  return FINAL.includes(step.do);
}

/** Does the steps in order and says what came out; a refusal ends them, because what follows would stand on nothing. */
export async function applySteps(steps: readonly Step[], context: StepContext): Promise<Applied> {
  if (steps.some(isFinal)) await confirmNewest(context);
  let applied: Applied = {};
  for (const step of steps) {
    if (applied.refused !== undefined && step.do !== 'EndTurn') continue;
    try {
      applied = {...applied, ...(await applyStep(step, context))};
    } catch (error) {
      if (!QUEUE.includes(step.do)) throw error;
      return {...applied, failed: {error, archiveNews: isArchiveNews(error, context)}};
    }
  }
  context.archiveWaits.passed(context.seen.session.metadata.uid);
  return applied;
}

/** True when the archive takes nothing, and for so long that it is more than a restart. */
function isArchiveNews(error: unknown, {seen, archiveWaits}: StepContext): boolean {
  if (!(error instanceof ArchiveError) || error.kind !== 'Unavailable') return false;
  const news = archiveWaits.failed(seen.session.metadata.uid, seen.now.getTime());
  // Told already, by the leader before or for the pod before: one outage is told once.
  return news || seen.session.status?.conditions?.some((c) => c.type === ARCHIVE_TROUBLE.type) === true;
}

/**
 * Throws `Conflict` unless the status that was decided from is the newest: a new leader's cache may be minutes behind. Only
 * what controllers write counts: an agent that edits its Session without end must not hold up the end of its pod.
 */
async function confirmNewest({input, seen}: StepContext): Promise<void> {
  const {namespace, name, uid} = seen.session.metadata;
  const newest = await input.write.find(Sessions, {namespace, name});
  if (newest?.metadata.uid === uid && isDeepStrictEqual(ownPart(newest), ownPart(seen.session))) return;
  const message = `the status of Session ${name} has changed since it was read`;
  throw new ApiError({
    kind: 'Conflict',
    status: 0,
    reason: '',
    message,
    causes: [],
    request: 'GET sessions.carrel.dev',
  });
}

async function applyStep(step: Step, context: StepContext): Promise<Applied> {
  const {input, seen, parts} = context;
  const {write} = input;
  const namespace = seen.session.metadata.namespace;
  switch (step.do) {
    case 'CreateVolume':
      return createVolume(step.revision.data, context);
    case 'CreateInitialTurn':
      return createInitialTurn(context);
    case 'CreatePod':
      return createPod(step.input, context);
    case 'DeletePod':
      await ifThere(write.delete(Pods, {namespace, name: step.name}, {uid: step.uid}), 'Conflict');
      return {};
    case 'SwitchDelivery':
      parts.delivery.switchOver();
      return {};
    case 'EndTurn': {
      await parts.archive.append(endRecord(seen.session, step.turn, step.end), input.signal);
      const status = endedStatus(step.turn, step.end);
      await ifThere(writeStatus({write, resource: Turns, object: step.turn, status}));
      for (const event of conditionEvents(Turn.conditions, step.turn.status?.conditions, status.conditions)) {
        input.events.record({regarding: step.turn, action: 'End', ...event});
      }
      return {};
    }
    case 'DeleteTurn': {
      const {name, uid} = step.turn.metadata;
      await ifThere(write.delete(Turns, {namespace, name}, {uid}), 'Conflict');
      return {};
    }
    case 'DeleteSession': {
      const {name, uid, resourceVersion} = seen.session.metadata;
      // Guarded by the version: whoever touched the Session meanwhile may have brought it back.
      await write.delete(Sessions, {namespace, name}, {uid, resourceVersion, propagationPolicy: 'Background'});
      return {};
    }
  }
}

async function createVolume(revision: Parameters<typeof buildVolumeClaim>[1], context: StepContext): Promise<Applied> {
  const {input, seen, parts} = context;
  const claim = buildVolumeClaim(identityOf(seen.session), revision, parts.accessMode);
  try {
    const made = await createOrOwn(input.write, PersistentVolumeClaims, {claim, owner: seen.session});
    if (made === 'taken') return {refused: nameTaken('PersistentVolumeClaim', claim.metadata.name, 'the volume')};
    return {volume: {name: made.metadata.name, uid: made.metadata.uid}};
  } catch (error) {
    const refused = refusal(error, 'the volume claim');
    if (refused === undefined) throw error;
    return {refused};
  }
}

async function createInitialTurn({input, seen}: StepContext): Promise<Applied> {
  const {name, namespace, uid} = seen.session.metadata;
  const whole = await input.write.get(Sessions, {name, namespace});
  if (whole.metadata.uid !== uid) return {};
  try {
    const claim = initialTurn(whole);
    const made = await createOrOwn(input.write, Turns, {claim, owner: seen.session});
    if (made === 'taken') return {refused: nameTaken('Turn', claim.metadata.name, 'the first turn')};
    return {initialTurn: {name: made.metadata.name, uid: made.metadata.uid}};
  } catch (error) {
    const refused = refusal(error, 'the first turn');
    if (refused === undefined) throw error;
    return {refused};
  }
}

/** Create, or take the one that an earlier try of ours made; `taken` when an object of somebody else has that name. */
export async function createOrOwn<T extends KubeObject>(
  write: Client,
  resource: Resource<T>,
  {claim, owner}: {claim: Parameters<typeof write.create<T>>[1]; owner: KubeObject},
): Promise<T | 'taken'> {
  try {
    return await write.create(resource, claim);
  } catch (error) {
    if (!isApiError(error, 'AlreadyExists', 'Unavailable')) throw error;
    const ref: ObjectRef = {namespace: claim.metadata.namespace, name: claim.metadata.name};
    const found = await write.find(resource, ref);
    if (found === undefined) throw error;
    return found.metadata.ownerReferences?.some((o) => o.uid === owner.metadata.uid) === true ? found : 'taken';
  }
}

const QUOTA_RETRY_MS = 20_000;

/** Nothing of somebody else's is deleted or used. No cache shows such an object, so the time of a retry is what ends the wait. */
function nameTaken(kind: string, name: string, what: string): Refused {
  return {
    reason: 'NameTaken',
    stopped: 'StartFailed',
    message: takenMessage(kind, name, what),
    retryMs: TAKEN_RETRY_MS,
  };
}

/** Why the API server did not take an object, when trying again at once would not help. */
export function refusal(error: unknown, what: string): Refused | undefined {
  if (!isApiError(error)) return undefined;
  const text = errorText(error);
  if (isApiError(error, 'QuotaExceeded')) {
    const message = `${what} does not fit the ResourceQuota: ${text}; raise it or end other sessions, it is tried again`;
    return {reason: 'QuotaExceeded', stopped: 'StartFailed', message, retryMs: QUOTA_RETRY_MS};
  }
  const policy = isApiError(error, 'PolicyDenied', 'Forbidden');
  if (!policy && !isApiError(error, 'Invalid', 'TooLarge')) return undefined;
  const message = `the API server refuses ${what}: ${text}; correct the Agent or the policy, then raise spec.restart`;
  return {reason: 'PodRejected', stopped: policy ? 'PolicyDenied' : 'StartFailed', message, retryMs: undefined};
}

function errorText(error: ApiError): string {
  return error.facts.message;
}
