import type {KubeObject} from '../api/kube-object.ts';
import type {Pod} from '../api/kube-pod.ts';
import {LABEL_AGENT, LABEL_AGENT_UID} from '../api/meta.ts';
import {done, type Outcome} from '../api/outcome.ts';
import type {ReleasePods} from '../domain/agent/isolation.ts';
import {Pods} from '../kube/builtin.ts';
import {defineController} from '../kube/controller.ts';
import type {ControllerDefinition, Key, ReconcileInput} from '../kube/controller-ports.ts';
import {Agents} from '../kube/kinds.ts';
import type {CachedReader} from '../kube/ports.ts';
import {ensureAgentShared, podsOfAgent, watchAgentShared} from './agent-shared.ts';
import {wakeOn} from './wake.ts';

/**
 * Pods outlive their Agent, and without its NetworkPolicy they are open: while any is left, policy and ServiceAccount come
 * back, also when nobody else looks after them any more. One pod of an Agent stands for all of them.
 */
export function isolationController(release: ReleasePods): ControllerDefinition {
  return defineController({
    name: 'isolation',
    resource: Pods,
    workers: 1,
    // Progress of a pod changes nothing here.
    wakes: () => false,
    watches: [
      ...watchAgentShared(onePod, () => false),
      // A policy that goes between the look at it and its pod finds no pod to wake. And the pod that stood for all may go
      // before anything is mended: then another one stands for the rest.
      wakeOn({
        resource: Pods,
        changed: () => false,
        keys: (pod, read) => (orphaned(pod, read) ? onePod(pod, read) : []),
      }),
      // With the Agent goes who looked after its objects until now.
      wakeOn({
        resource: Agents,
        changed: (old, now) => old.metadata.uid !== now.metadata.uid,
        added: () => false,
        keys: (agent, read) => podsOfAgent(read, agent.metadata.namespace, agent.metadata.uid).slice(0, 1).map(keyOf),
      }),
    ],
    reconcile: (input) => reconcileIsolation(input, release),
  });
}

async function reconcileIsolation(
  {object: pod, read, write}: ReconcileInput<Pod>,
  release: ReleasePods,
): Promise<Outcome> {
  if (!orphaned(pod, read)) return done;
  const {[LABEL_AGENT]: name, [LABEL_AGENT_UID]: uid} = pod.metadata.labels ?? {};
  if (name === undefined || uid === undefined) return done;
  await ensureAgentShared({read, write}, {name, uid, namespace: pod.metadata.namespace ?? ''}, release);
  return done;
}

/** True when no Agent is there that keeps the objects of this pod. */
function orphaned({metadata: {namespace, labels}}: Pod, read: CachedReader): boolean {
  const agent = read.of(Agents).get({namespace, name: labels?.[LABEL_AGENT] ?? ''});
  return agent?.metadata.uid !== labels?.[LABEL_AGENT_UID] || agent?.metadata.deletionTimestamp !== undefined;
}

function onePod({metadata: {namespace, labels}}: KubeObject, read: CachedReader): Key[] {
  return podsOfAgent(read, namespace, labels?.[LABEL_AGENT_UID]).slice(0, 1).map(keyOf);
}

function keyOf({metadata: {namespace, name}}: Pod): Key {
  return {namespace: namespace ?? '', name};
}
