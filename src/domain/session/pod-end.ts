import type {ContainerStatus, Pod} from '../../api/kube-pod.ts';
import {CONTAINER, PATH, SEED_EXIT, VOLUME} from '../../api/pod.ts';
import type {SessionReason, StoppedReason} from '../../api/v1alpha1/index.ts';

/** How a pod ended that did not end because we asked. */
export interface PodEnd {
  reason: SessionReason;
  stopped: StoppedReason;
  message: string;
}

/** Undefined while the pod may still work. Text of the container's own is never read: the agent can write it. */
export function podEnd(pod: Pod): PodEnd | undefined {
  return byNode(pod) ?? byContainer(pod);
}

function byNode(pod: Pod): PodEnd | undefined {
  const {reason, message, phase} = pod.status ?? {};
  const disrupted = pod.status?.conditions?.find((c) => c.type === 'DisruptionTarget' && c.status === 'True');
  const text = message ?? disrupted?.message ?? '';
  if (phase !== 'Failed') return undefined;
  if (
    disrupted?.reason === 'DeletionByPodGC' ||
    disrupted?.reason === 'DeletionByTaintManager' ||
    reason === 'NodeLost'
  ) {
    return {reason: 'NodeLost', stopped: 'NodeLost', message: `the node of the pod is gone: ${text}`};
  }
  if (reason === 'Evicted' || reason === 'Terminated' || disrupted !== undefined) {
    return {reason: 'Evicted', stopped: 'Evicted', message: `the pod was evicted: ${text}`};
  }
  return undefined;
}

function byContainer(pod: Pod): PodEnd | undefined {
  const init = (pod.status?.initContainerStatuses ?? []).find((c) => failedInit(c));
  if (init !== undefined) return initEnd(pod, init);
  const agent = pod.status?.containerStatuses?.find((c) => c.name === CONTAINER.agent)?.state?.terminated;
  if (agent !== undefined) return agentEnd(pod.metadata.name, agent);
  const runner = (pod.status?.initContainerStatuses ?? []).find((c) => c.name === CONTAINER.runner);
  if (runner?.state?.waiting?.reason === 'CrashLoopBackOff' && runner.restartCount >= RUNNER_RESTARTS) {
    const message = `the runner ended ${runner.restartCount} times: see kubectl logs ${pod.metadata.name} -c ${runner.name} --previous`;
    return {reason: 'PodLost', stopped: 'AgentExited', message};
  }
  const {phase} = pod.status ?? {};
  if (phase === 'Failed' || phase === 'Succeeded') {
    return {reason: 'PodLost', stopped: 'AgentExited', message: `the pod ended (${phase}) without saying why`};
  }
  return undefined;
}

// The kubelet starts a runner again for ever, with no more than 5 min between: about 3 min of trying are enough. Its token may be
// refused for good, and nobody else would ever end the turn that it had.
const RUNNER_RESTARTS = 5;

/** The workspace image lacks what it is there for. With an image volume the node says so, else the seed container. */
export function noSource({spec}: Pod): PodEnd {
  const mounted = spec.volumes?.find((v) => v.name === VOLUME.source)?.image?.reference;
  const image = mounted ?? spec.initContainers?.find((c) => c.name === CONTAINER.seed)?.image ?? '';
  const message = `workspace.image of the Agent, ${image}, has no folder ${PATH.workspace} to seed from: build it with the files in that folder, or take it out of the Agent`;
  return {reason: 'StartFailed', stopped: 'StartFailed', message};
}

function initEnd(pod: Pod, {name, state}: ContainerStatus): PodEnd {
  const code = state?.terminated?.exitCode ?? -1;
  if (name === CONTAINER.seed && code === SEED_EXIT.noSource) return noSource(pod);
  if (name === CONTAINER.seed && code === SEED_EXIT.incomplete) {
    const message = 'the volume holds content but no seed marker, so it is not seeded over';
    return {reason: 'SeedIncomplete', stopped: 'StartFailed', message};
  }
  const message = `container ${name} ended with exit code ${code}: see kubectl logs ${pod.metadata.name} -c ${name}`;
  return {reason: 'StartFailed', stopped: 'StartFailed', message};
}

function failedInit(status: ContainerStatus): boolean {
  // The runner is a sidecar: it is started again in place and never ends the pod.
  return status.name !== CONTAINER.runner && (status.state?.terminated?.exitCode ?? 0) !== 0;
}

function agentEnd(pod: string, {exitCode, reason}: {exitCode: number; reason?: string | undefined}): PodEnd {
  // `OOMKilled` sticks to later exits on cgroup v1: it counts only together with the code of a kill.
  if (exitCode === 137 && reason === 'OOMKilled') {
    const message = 'the agent container ran out of memory: raise resources.limits.memory of the Agent';
    return {reason: 'OutOfMemory', stopped: 'OutOfMemory', message};
  }
  if (reason === 'StartError' || reason === 'ContainerCannotRun') {
    const message = `the agent container could not be started (${reason}, exit code ${exitCode})`;
    return {reason: 'StartFailed', stopped: 'StartFailed', message};
  }
  if (exitCode > 128) {
    return {
      reason: 'AgentKilled',
      stopped: 'AgentKilled',
      message: `the agent container was killed (exit code ${exitCode})`,
    };
  }
  // An agent that ends leaves its container up: with 0 that one ended by order, most of all because the runner gave its pod up.
  if (exitCode === 0) {
    const runner = `kubectl logs ${pod} -c ${CONTAINER.runner}`;
    const message = `the pod ended by order of its runner (${runner}): the gateway refused its token, or somebody ended it`;
    return {reason: 'PodLost', stopped: 'AgentExited', message};
  }
  return {
    reason: 'AgentExited',
    stopped: 'AgentExited',
    message: `the agent container ended with exit code ${exitCode}`,
  };
}
