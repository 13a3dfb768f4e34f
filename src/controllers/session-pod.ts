import type {Manifest} from '../api/kube-object.ts';
import type {Pod} from '../api/kube-pod.ts';
import {buildPod, type PodInput} from '../domain/session/pod.ts';
import {comparePod, imageVolumesDropped} from '../domain/session/pod-compare.ts';
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
  try {
    await ensureAgentShared(input, {...revision.agent, namespace: session.namespace}, parts.release);
  } catch (error) {
    // Without them the pod would be open: it is not made.
    const refused = refusal(error, 'the ServiceAccount or the NetworkPolicy of its pod');
    if (refused === undefined) throw error;
    return {refused};
  }
  const wanted = buildPod(pod);
  const made = await post(wanted, context);
  if ('metadata' in made) return judge(wanted, made, context);
  return made;
}

async function post(wanted: Manifest<Pod>, {input}: StepContext): Promise<Pod | Applied> {
  const ref = {namespace: wanted.metadata.namespace, name: wanted.metadata.name};
  try {
    return await input.write.create(Pods, wanted);
  } catch (error) {
    if (isApiError(error, 'Terminating')) return {againMs: AGAIN_MS};
    if (isApiError(error, 'AlreadyExists', 'Unavailable')) {
      const found = await input.write.find(Pods, ref);
      if (found === undefined) throw error;
      return found;
    }
    const refused = refusal(error, 'the pod');
    if (refused === undefined) throw error;
    return {refused};
  }
}

async function judge(wanted: Manifest<Pod>, made: Pod, context: StepContext): Promise<Applied> {
  const {input, seen, parts} = context;
  const {name, uid, namespace} = made.metadata;
  if (made.metadata.deletionTimestamp !== undefined) return {againMs: AGAIN_MS};
  const remove = () => ifThere(input.write.delete(Pods, {namespace, name}, {uid, gracePeriodSeconds: 0}), 'Conflict');
  const owned = (made.metadata.ownerReferences ?? []).some((o) => o.uid === seen.session.metadata.uid);
  if (!owned) {
    await remove();
    const note = `pod ${name} was not made for this session; it was deleted`;
    input.events.record({regarding: seen.session, type: 'Warning', reason: 'PodForeign', action: 'DeletePod', note});
    return {againMs: AGAIN_MS};
  }
  if (imageVolumesDropped(wanted, made) && parts.delivery.maySwitch) {
    await remove();
    if (parts.delivery.switchOver()) {
      const note = 'the API server drops image volumes; the runtime is copied by an init container from now on';
      input.events.record({
        regarding: seen.session,
        type: 'Warning',
        reason: 'RuntimeSwitched',
        action: 'Switch',
        note,
      });
    }
    return {againMs: AGAIN_MS};
  }
  const differences = comparePod(wanted, made);
  if (differences.length === 0) return {pod: {name, uid}};
  await remove();
  const first = differences.slice(0, 3).map((d) => `${d.field} is ${d.actual} instead of ${d.expected}`);
  const message = `pod ${name} is not what was asked for, an admission webhook may have changed it: ${first.join('; ')}. Exempt pods that begin with carrel-, then raise spec.restart`;
  return {refused: {reason: 'PodMutated', stopped: 'PodMutated', message, retryMs: undefined}};
}
