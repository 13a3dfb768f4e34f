import {z} from 'zod';
import type {ControllerRevision} from '../../api/kube-core.ts';
import type {Manifest} from '../../api/kube-object.ts';
import {LABEL_AGENT, LABEL_AGENT_UID, LABEL_MANAGED_BY, MANAGED_BY, uid8} from '../../api/meta.ts';
import {Agent, type AgentObject} from '../../api/v1alpha1/index.ts';
import {canonicalHash} from '../canonical.ts';

/** Content of a published Agent: what its pods run, with the unix uid of the agent process fixed for good. */
export const RevisionData = z.object({
  agent: z.object({name: z.string(), uid: z.string()}),
  generation: z.number().int(),
  /** Unix uid and gid of the agent's processes: volumes belong to it, so it never changes for an Agent. */
  uid: z.number().int(),
  spec: Agent.spec,
});
export type RevisionData = z.infer<typeof RevisionData>;

/** Unix uids that agents may run as, inclusive. */
export interface UidRange {
  first: number;
  last: number;
}

/** Unix uid of an Agent: spread over the range, because inotify and process limits are counted per uid and node. */
export function agentUnixUid(agentUid: string, range: UidRange): number {
  const spread = Number.parseInt(canonicalHash(agentUid).slice(0, 8), 16);
  return range.first + (spread % (range.last - range.first + 1));
}

/** Data that publishing this Agent now would store. `description` and `draft` change nothing that runs. */
export function revisionData(agent: AgentObject, range: UidRange): RevisionData {
  const {draft: _draft, ...spec} = agent.spec;
  return {
    agent: {name: agent.metadata.name, uid: agent.metadata.uid},
    generation: agent.metadata.generation ?? 0,
    uid: agentUnixUid(agent.metadata.uid, range),
    spec,
  };
}

/** What a revision's name vouches for. The generation does not count, so a spec that comes back finds its old revision. */
const Hashed = z.object({agent: z.unknown(), uid: z.unknown(), spec: z.unknown()});

/** Hash over the content as it is stored, before any default of a later version is filled in. */
export function revisionHash(stored: unknown): string {
  return canonicalHash(Hashed.parse(stored)).slice(0, 10);
}

/** `<agent>-<uid8>-<hash>`: a name that can only mean one content. */
export function revisionName(data: RevisionData): string {
  return `${data.agent.name}-${uid8(data.agent.uid)}-${revisionHash(data)}`;
}

/** The ControllerRevision to create. Not owned by the Agent: running sessions outlive it; it is swept when none refers to it. */
export function buildRevision(data: RevisionData, namespace: string): Manifest<ControllerRevision> {
  return {
    metadata: {
      name: revisionName(data),
      namespace,
      labels: {
        [LABEL_MANAGED_BY]: MANAGED_BY,
        [LABEL_AGENT]: data.agent.name,
        [LABEL_AGENT_UID]: data.agent.uid,
      },
    },
    revision: data.generation,
    data,
  };
}

/** Why a stored revision cannot be trusted. */
export type RevisionProblem = 'Unreadable' | 'HashMismatch';

/**
 * The content of a stored revision, checked: it must fit the schema, and its name must carry the hash of its content,
 * because a ControllerRevision can be deleted and made again with other data.
 */
export function parseRevision(object: ControllerRevision): {data: RevisionData} | {problem: RevisionProblem} {
  const parsed = RevisionData.safeParse(object.data);
  if (!parsed.success) return {problem: 'Unreadable'};
  const {agent} = parsed.data;
  const name = `${agent.name}-${uid8(agent.uid)}-${revisionHash(object.data)}`;
  return name === object.metadata.name ? {data: parsed.data} : {problem: 'HashMismatch'};
}
