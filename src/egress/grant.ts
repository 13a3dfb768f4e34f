import type {ControllerRevision} from '../api/kube-core.ts';
import {AUDIENCE} from '../api/meta.ts';
import type {AgentSpec, SessionObject} from '../api/v1alpha1/index.ts';
import {parseRevision} from '../domain/agent/revision.ts';
import {Sessions} from '../kube/kinds.ts';
import type {Client} from '../kube/ports.ts';
import {type EgressCaches, POD_UID} from './caches.ts';
import {EgressRefusal} from './refusal.ts';

/** Whose connection it is, and what it may do. */
export interface Grant {
  readonly podUid: string;
  readonly namespace: string;
  readonly session: string;
  readonly revision: string;
  readonly spec: AgentSpec;
}

/** What a token review says that matters here. */
export interface ReviewedPod {
  readonly podUid: string | undefined;
  readonly serviceAccount: {readonly namespace: string; readonly name: string} | undefined;
}

/** What granting needs. */
export interface GrantParts {
  readonly client: Pick<Client, 'find'>;
  readonly caches: Pick<EgressCaches, 'sessions' | 'revisions'>;
  /** Undefined: refused. Throws when no verdict could be made. */
  readonly reviewToken: (token: string, audience: string) => Promise<ReviewedPod | undefined>;
  /** How long the caches may be behind: a pod may be faster than the watch that tells of it. Default 2 s. */
  readonly lagMs?: number;
}

const LAG_MS = 2_000;

/** From token to Agent: pod of the token -> Session that names this pod now -> its revision. Rejects with EgressRefusal. */
export async function grantOf(parts: GrantParts, token: string): Promise<Grant> {
  const {podUid, namespace} = await podOf(parts, token);
  const session = await sessionOf(parts, podUid, namespace);
  const name = session.status?.revision;
  if (name === undefined) throw new EgressRefusal('revision_unknown', 'the session has no revision yet; try again');
  const revision = await revisionOf(parts, {namespace, name});
  const parsed = parseRevision(revision);
  if ('problem' in parsed) {
    throw new EgressRefusal(
      'revision_invalid',
      `revision ${name} is not what its name says (${parsed.problem}); publish the Agent again`,
    );
  }
  return {podUid, namespace, session: session.metadata.name, revision: name, spec: parsed.data.spec};
}

async function podOf(parts: GrantParts, token: string): Promise<{podUid: string; namespace: string}> {
  const reviewed = await parts.reviewToken(token, AUDIENCE.egress).catch((cause: unknown) => {
    throw new EgressRefusal('no_verdict', 'the token could not be reviewed now; try again', {cause});
  });
  if (reviewed?.podUid === undefined || reviewed.serviceAccount === undefined) {
    throw new EgressRefusal(
      'token_refused',
      `the token is not accepted: it must be a pod's, of audience ${AUDIENCE.egress}`,
    );
  }
  return {podUid: reviewed.podUid, namespace: reviewed.serviceAccount.namespace};
}

async function sessionOf(
  {caches, client, lagMs}: GrantParts,
  podUid: string,
  namespace: string,
): Promise<SessionObject> {
  const {sessions} = caches;
  const probe = () => sessions.byIndex(POD_UID, podUid).find((s) => s.metadata.namespace === namespace);
  const cached = await sessions.waitUntil(probe, {timeoutMs: lagMs ?? LAG_MS});
  const notBound = new EgressRefusal(
    'not_bound',
    'no session names this pod as its own; a replaced pod reaches nothing',
  );
  if (cached === undefined) throw notBound;
  if (sessions.fresh()) return cached;
  // The watch is broken: what the cache says may be old, and a replaced pod must not get out.
  const live = await client
    .find(Sessions, {namespace, name: cached.metadata.name}, {timeoutMs: 5_000})
    .catch((cause: unknown) => {
      throw new EgressRefusal('no_verdict', 'the session could not be read now; try again', {cause});
    });
  if (live?.status?.pod?.uid !== podUid) throw notBound;
  return live;
}

async function revisionOf(
  {caches, lagMs}: GrantParts,
  ref: {namespace: string; name: string},
): Promise<ControllerRevision> {
  const found = await caches.revisions.waitUntil(() => caches.revisions.get(ref), {timeoutMs: lagMs ?? LAG_MS, ref});
  if (found === undefined)
    throw new EgressRefusal('revision_unknown', `revision ${ref.name} does not exist; try again`);
  return found;
}
