import type {ControllerRevision} from '../../api/kube-core.ts';
import type {AgentObject, SessionObject} from '../../api/v1alpha1/index.ts';
import {allowedModels} from '../agent/launch.ts';
import {parseRevision} from '../agent/revision.ts';
import {firstFew} from '../first-few.ts';
import type {NamedRevision, RevisionChoice} from './seen.ts';

/** What decides which revision a new attempt runs. */
export interface ChoiceSeen {
  session: SessionObject;
  agent: AgentObject | undefined;
  /** The ControllerRevision that the Agent's status names. */
  published: ControllerRevision | undefined;
  /** Names of the Agents of the namespace, in any order; only looked at when the Session's is missing. */
  agents: readonly string[];
}

/** Most names that a message lists. */
const NAMES = 5;

/** The Agent's published revision, if it may run with the model that the Session wants. */
export function chooseRevision({session, agent, published, agents}: ChoiceSeen): RevisionChoice {
  const name = session.spec.agent;
  if (agent === undefined) {
    return {kind: 'Blocked', reason: 'AgentNotFound', message: agentMissing(name, agents)};
  }
  const wanted = agent.status?.publishedRevision;
  if (wanted === undefined) {
    const judged = agent.status?.conditions?.find((c) => c.type === 'Ready');
    if (judged === undefined) return {kind: 'Unjudged', message: `Agent ${name} is being published`};
    const message = `Agent ${name} has no published revision: ${judged.message}`;
    return {kind: 'Blocked', reason: 'AgentNotPublished', message};
  }
  const revision = published === undefined ? undefined : checkedRevision(published);
  if (revision === undefined) {
    const message = `revision ${wanted} of Agent ${name} is missing or was changed; it is published again by the controller`;
    return {kind: 'Blocked', reason: 'AgentNotPublished', message};
  }
  return modelProblem(session, revision) ?? {kind: 'Found', revision};
}

/** `spec.agent` cannot be corrected, so both ways out are told. */
function agentMissing(name: string, agents: readonly string[]): string {
  const there = agents.length === 0 ? 'the namespace has none' : `there are ${firstFew([...agents].sort(), NAMES)}`;
  return `spec.agent: no Agent named ${name} exists in this namespace; create it, or delete this Session and create it again with another agent (${there}): spec.agent cannot be changed`;
}

/** A stored revision with its content, if its name vouches for it. */
export function checkedRevision(stored: ControllerRevision): NamedRevision | undefined {
  const parsed = parseRevision(stored);
  return 'data' in parsed ? {name: stored.metadata.name, data: parsed.data} : undefined;
}

function modelProblem(session: SessionObject, revision: NamedRevision): RevisionChoice | undefined {
  const wanted = session.spec.model?.name;
  if (wanted === undefined) return undefined;
  const allowed = allowedModels(revision.data);
  if (allowed.includes(wanted)) return undefined;
  const list = allowed.length === 0 ? 'the Agent has no model' : `choose one of ${allowed.join(', ')}`;
  const message = `spec.model.name: ${wanted} is not allowed by Agent ${session.spec.agent}; ${list}`;
  return {kind: 'Blocked', reason: 'ModelNotAllowed', message};
}
