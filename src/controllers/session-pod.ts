import type {ServiceAccount} from '../api/kube-core.ts';
import type {Manifest} from '../api/kube-object.ts';
import type {Pod} from '../api/kube-pod.ts';
import type {SessionReason} from '../api/v1alpha1/index.ts';
import {leavingAccount} from '../domain/session/account.ts';
import {buildPod, type PodInput} from '../domain/session/pod.ts';
import {comparePod, imageVolumesDropped, type PodDifference} from '../domain/session/pod-compare.ts';
import type {Applied} from '../domain/session/steps.ts';
import {Pods} from '../kube/builtin.ts';
import {isApiError} from '../kube/errors.ts';
import {ensureAgentShared} from './agent-shared.ts';
import {ifThere} from './if-there.ts';
import {refusal, type StepContext} from './session-steps.ts';

const AGAIN_MS = 1_000;

/**
 * Makes the pod of an attempt by POST. The reply is compared with what was asked for: an API server without image volumes
 * drops them silently, and an admission webhook may add to a pod what the agent must not have.
 */
export async function createPod(pod: PodInput, context: StepContext): Promise<Applied> {
  const {input, parts} = context;
  const {revision, session} = pod;
  let account: ServiceAccount;
  try {
    account = await ensureAgentShared(input, {...revision.agent, namespace: session.namespace}, parts.release);
  } catch (error) {
    // Without them the pod would be open: it is not made.
    const refused = refusal(error, 'the ServiceAccount or the NetworkPolicy of its pod');
    if (refused === undefined) throw error;
    return {refused};
  }
  const leaving = leavingAccount(account);
  if (leaving !== undefined) return {refused: leaving};
  const wanted = buildPod({...pod, accountUid: account.metadata.uid});
  const answer = await post(wanted, context);
  if ('made' in answer) return judgeMade(wanted, answer.made, context);
  if ('found' in answer) return judgeFound(wanted, answer.found, context);
  return answer.applied;
}

/** The reply to our own POST, a pod that has the name already, or what stood in the way. */
type Answer = {made: Pod} | {found: Pod} | {applied: Applied};

async function post(wanted: Manifest<Pod>, {input}: StepContext): Promise<Answer> {
  const ref = {namespace: wanted.metadata.namespace, name: wanted.metadata.name};
  try {
    return {made: await input.write.create(Pods, wanted)};
  } catch (error) {
    if (isApiError(error, 'Terminating')) return {applied: {againMs: AGAIN_MS}};
    if (isApiError(error, 'AlreadyExists', 'Unavailable')) {
      const found = await input.write.find(Pods, ref);
      if (found === undefined) throw error;
      return {found};
    }
    const refused = refusal(error, 'the pod');
    if (refused === undefined) throw error;
    return {applied: {refused}};
  }
}

/**
 * A pod of that name is taken if it is the one that is asked for now. Somebody else may have made it; or an earlier try of
 * ours did, before an upgrade or a change of delivery: nothing follows from that but that it goes.
 */
async function judgeFound(wanted: Manifest<Pod>, found: Pod, context: StepContext): Promise<Applied> {
  const {name, uid, deletionTimestamp} = found.metadata;
  if (deletionTimestamp !== undefined) return {againMs: AGAIN_MS};
  const differences = comparePod(wanted, found);
  if (differences.length === 0) return {pod: {name, uid}};
  // Processes of ours may run in it and write the volume: they get their time to end. A foreign one gets none.
  const owned = (found.metadata.ownerReferences ?? []).some((o) => o.uid === context.seen.session.metadata.uid);
  await remove(found, context, owned ? wanted.spec.terminationGracePeriodSeconds : 0);
  const note = `pod ${name} was there already and is not the one that is asked for (${firstOf(differences)}); it was deleted`;
  tell(context, 'PodForeign', 'DeletePod', note);
  return {againMs: AGAIN_MS};
}

async function judgeMade(wanted: Manifest<Pod>, made: Pod, context: StepContext): Promise<Applied> {
  const {delivery} = context.parts;
  const {name, uid} = made.metadata;
  if (imageVolumesDropped(wanted, made) && delivery.maySwitch) {
    await remove(made, context, 0);
    if (delivery.switchOver()) {
      const note = 'the API server drops image volumes; the runtime is copied by an init container from now on';
      tell(context, 'RuntimeSwitched', 'Switch', note);
    }
    return {againMs: AGAIN_MS};
  }
  const differences = comparePod(wanted, made);
  if (differences.length === 0) return {pod: {name, uid}};
  await remove(made, context, 0);
  const message = `pod ${name} is not what was asked for, an admission webhook may have changed it: ${firstOf(differences)}. Exempt pods that begin with carrel-, then raise spec.restart`;
  return {refused: {reason: 'PodMutated', stopped: 'PodMutated', message, retryMs: undefined}};
}

async function remove(
  {metadata: {namespace, name, uid}}: Pod,
  {input}: StepContext,
  gracePeriodSeconds: number | undefined,
): Promise<void> {
  await ifThere(input.write.delete(Pods, {namespace, name}, {uid, gracePeriodSeconds}), 'Conflict');
}

function firstOf(differences: readonly PodDifference[]): string {
  return differences
    .slice(0, 3)
    .map((d) => `${d.field} is ${d.actual} instead of ${d.expected}`)
    .join('; ');
}

function tell({input, seen}: StepContext, reason: SessionReason, action: string, note: string): void {
  input.events.record({regarding: seen.session, type: 'Warning', reason, action, note});
}
