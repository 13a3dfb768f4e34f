import {POD_PREFIX, uid8} from '../../api/meta.ts';
import type {SessionObject} from '../../api/v1alpha1/index.ts';
import {Sessions} from '../../kube/kinds.ts';
import type {Cache, Client} from '../../kube/ports.ts';
import type {ReviewToken, TokenIdentity} from '../../kube/token-review.ts';
import {INDEX} from '../caches.ts';

/** A pod as its token names it. */
export interface PodIdentity {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

/** A pod and the Session that it is the present pod of. */
export interface Bound {
  readonly pod: PodIdentity;
  readonly session: SessionObject;
}

/** `early`: the Session does not name the pod yet. `fenced`: it never will again. */
export type Binding = 'bound' | 'early' | 'fenced';

/** Whether this pod speaks for this Session now. */
export function judgeBinding(session: SessionObject | undefined, pod: PodIdentity): Binding {
  const named = session?.status?.pod;
  if (named?.uid === pod.uid) return 'bound';
  const {attempt, owner} = podNameParts(pod.name);
  if (session === undefined || owner !== uid8(session.metadata.uid)) return 'fenced';
  // The pod of an attempt exists before the Session names it, and before every cache has seen that it does.
  const present = named === undefined ? (session.status?.attempt ?? 0) - 1 : podNameParts(named.name).attempt;
  return attempt > present ? 'early' : 'fenced';
}

/** `carrel-<session>-<uid8 of the session>-<attempt>`, taken apart; nothing fits an empty session name. */
export function podNameParts(name: string): {session: string; owner: string; attempt: number} {
  const match = /^(.+)-([^-]{8})-([0-9]{1,9})$/.exec(name.startsWith(POD_PREFIX) ? name.slice(POD_PREFIX.length) : '');
  return {session: match?.[1] ?? '', owner: match?.[2] ?? '', attempt: Number(match?.[3] ?? 0)};
}

/** What binding needs. */
export interface BindingParts {
  readonly client: Pick<Client, 'find'>;
  readonly sessions: Cache<SessionObject>;
}

/** Why a pod is not served. */
export type Unbound = 'refused' | 'no_verdict' | 'early' | 'fenced';

/** The pod that a token belongs to: from the review, never from a body. */
export async function podOf(
  parts: {reviewToken: ReviewToken},
  token: string,
  audience: string,
): Promise<PodIdentity | Unbound> {
  try {
    return podIn(await parts.reviewToken(token, audience)) ?? 'refused';
  } catch {
    return 'no_verdict';
  }
}

/** The pod that a reviewed token is bound to, if it is. */
export function podIn(identity: TokenIdentity | undefined): PodIdentity | undefined {
  const {podUid, podName, serviceAccount} = identity ?? {};
  if (podUid === undefined || podName === undefined || serviceAccount === undefined) return undefined;
  return {uid: podUid, name: podName, namespace: serviceAccount.namespace};
}

/** The Session of this pod. The cache may say yes while it is fresh; a no is confirmed live, because it ends the pod. */
export async function bind(parts: BindingParts, pod: PodIdentity): Promise<Bound | Exclude<Unbound, 'refused'>> {
  const cached = parts.sessions.byIndex(INDEX.podUid, pod.uid)[0];
  if (cached !== undefined && parts.sessions.fresh() && cached.metadata.namespace === pod.namespace) {
    return {pod, session: cached};
  }
  const name = cached?.metadata.name ?? podNameParts(pod.name).session;
  if (name === '') return 'fenced';
  try {
    const session = await parts.client.find(Sessions, {namespace: pod.namespace, name}, {timeoutMs: 5_000});
    const binding = judgeBinding(session, pod);
    return binding === 'bound' && session !== undefined ? {pod, session} : binding === 'early' ? 'early' : 'fenced';
  } catch {
    return 'no_verdict';
  }
}
