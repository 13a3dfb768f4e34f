import type {KubeObject} from '../api/kube-object.ts';
import {LABEL_AGENT} from '../api/meta.ts';
import type {ReleasePods} from '../domain/agent/isolation.ts';
import {planAgent} from '../domain/agent/plan.ts';
import {revisionData, revisionName, type UidRange} from '../domain/agent/revision.ts';
import {ControllerRevisions} from '../kube/builtin.ts';
import {defineController, watch} from '../kube/controller.ts';
import type {ControllerDefinition, Key} from '../kube/controller-ports.ts';
import {isApiError} from '../kube/errors.ts';
import {Agents} from '../kube/kinds.ts';
import {writeStatus} from '../kube/status.ts';
import {ensureAgentShared, watchAgentShared} from './agent-shared.ts';

/** What the Agent controller needs to know of the installation. */
export interface AgentControllerSettings {
  range: UidRange;
  release: ReleasePods;
}

function agentOf({metadata}: KubeObject): Key[] {
  const name = metadata.labels?.[LABEL_AGENT];
  return name === undefined ? [] : [{namespace: metadata.namespace ?? '', name}];
}

/** Publishes Agents: an immutable revision for each valid spec, and the objects that isolate its pods. */
export function agentController({range, release}: AgentControllerSettings): ControllerDefinition {
  return defineController({
    name: 'agent',
    resource: Agents,
    watches: [watch({resource: ControllerRevisions, enqueue: agentOf}), ...watchAgentShared(agentOf)],
    async reconcile({object: agent, read, write, events, now}) {
      if (agent.metadata.deletionTimestamp !== undefined) return {kind: 'done'};
      const namespace = agent.metadata.namespace ?? '';
      const name = revisionName(revisionData(agent, range));
      const stored = read.of(ControllerRevisions).get({namespace, name});
      const plan = planAgent({agent, stored, range, now});
      if (plan.create !== undefined) {
        if (stored !== undefined)
          await write.delete(ControllerRevisions, {namespace, name}, {uid: stored.metadata.uid});
        await write.create(ControllerRevisions, plan.create).catch((error: unknown) => {
          if (!isApiError(error, 'AlreadyExists')) throw error;
        });
      }
      const identity = {name: agent.metadata.name, uid: agent.metadata.uid, namespace};
      const shared =
        plan.status.publishedRevision === undefined
          ? undefined
          : await ensureAgentShared({read, write}, identity, release).then(
              () => undefined,
              (error: unknown) => ({error}),
            );
      await writeStatus({write, resource: Agents, object: agent, status: plan.status});
      if (plan.event !== undefined) events.record({regarding: agent, action: 'Publish', ...plan.event});
      // Told by each Session that cannot start for want of them; what is published is published all the same.
      if (shared !== undefined) throw shared.error;
      return plan.outcome;
    },
  });
}
