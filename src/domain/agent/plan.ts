import {setCondition} from '../../api/condition-list.ts';
import type {ControllerRevision} from '../../api/kube-core.ts';
import type {Condition, Manifest} from '../../api/kube-object.ts';
import {done, type Outcome, stalled} from '../../api/outcome.ts';
import type {AgentObject, AgentReason, AgentStatus} from '../../api/v1alpha1/index.ts';
import {cutBytes, MAX_MESSAGE_BYTES} from '../status-size.ts';
import {
  buildRevision,
  parseRevision,
  type RevisionData,
  revisionData,
  revisionName,
  type UidRange,
} from './revision.ts';
import {agentProblem} from './validate.ts';

/** Everything that decides about an Agent. */
export interface AgentSeen {
  agent: AgentObject;
  /** Stored revision that has the name which the present spec would be published under. */
  stored: ControllerRevision | undefined;
  range: UidRange;
  now: Date;
}

/** What to do: at most one object to create, the whole status, and one event when something changed. */
export interface AgentPlan {
  create: Manifest<ControllerRevision> | undefined;
  status: AgentStatus;
  event: {type: 'Normal' | 'Warning'; reason: AgentReason; note: string} | undefined;
  outcome: Outcome;
}

/** Publishes a valid spec under the hash of its content; anything else leaves the last good revision serving. */
export function planAgent(seen: AgentSeen): AgentPlan {
  const data = revisionData(seen.agent, seen.range);
  if (seen.agent.spec.draft === true)
    return kept(seen, {reason: 'Draft', message: 'spec.draft is true; set it to false to publish'});
  const problem = agentProblem(data);
  if (problem !== undefined) return kept(seen, problem);
  return published(seen, data);
}

function published(seen: AgentSeen, data: RevisionData): AgentPlan {
  const {agent, stored, now} = seen;
  const name = revisionName(data);
  const usable = stored !== undefined && 'data' in parseRevision(stored);
  const message = `revision ${name} serves`;
  const fresh = agent.status?.publishedRevision !== name;
  const generation = agent.metadata.generation ?? 0;
  let conditions = dropAbnormal(agent.status?.conditions);
  for (const type of ['Published', 'Ready'] as const) {
    conditions = setCondition(
      conditions,
      {type, status: 'True', reason: 'Published', message, observedGeneration: generation},
      now,
    );
  }
  return {
    create: usable ? undefined : buildRevision(data, agent.metadata.namespace ?? ''),
    status: {
      observedGeneration: generation,
      publishedRevision: name,
      publishedGeneration: fresh ? generation : (agent.status?.publishedGeneration ?? generation),
      conditions,
    },
    event: fresh ? {type: 'Normal', reason: 'Published', note: `Published ${message}`} : undefined,
    outcome: done,
  };
}

function kept(seen: AgentSeen, cause: {reason: AgentReason; message: string}): AgentPlan {
  const {agent, now} = seen;
  const why = {...cause, message: cutBytes(cause.message, MAX_MESSAGE_BYTES)};
  const generation = agent.metadata.generation ?? 0;
  const serving = agent.status?.publishedRevision;
  const draft = why.reason === 'Draft';
  const before = agent.status?.conditions;
  const known = before?.find((c) => c.type === 'Published');
  let conditions: Condition[] = dropAbnormal(before);
  const set = (type: string, status: 'True' | 'False', reason: AgentReason, message: string) => {
    const cut = cutBytes(message, MAX_MESSAGE_BYTES);
    conditions = setCondition(conditions, {type, status, reason, message: cut, observedGeneration: generation}, now);
  };
  set('Published', 'False', why.reason, why.message);
  if (serving === undefined) set('Ready', 'False', 'NotPublished', why.message);
  else set('Ready', 'True', 'LastGoodServes', `${serving} serves; the present spec does not: ${why.message}`);
  if (!draft) {
    const stuck = before?.find((c) => c.type === 'Stalled');
    conditions = setCondition(
      stuck === undefined ? conditions : [...conditions, stuck],
      {type: 'Stalled', status: 'True', reason: why.reason, message: why.message, observedGeneration: generation},
      now,
    );
  }
  return {
    create: undefined,
    status: {...agent.status, observedGeneration: generation, conditions},
    event:
      draft || (known?.reason === why.reason && known.message === why.message)
        ? undefined
        : {type: 'Warning', reason: why.reason, note: why.message},
    outcome: draft ? done : stalled(why.reason),
  };
}

function dropAbnormal(conditions: readonly Condition[] | undefined): Condition[] {
  return (conditions ?? []).filter((c) => c.type !== 'Stalled' && c.type !== 'Reconciling');
}
