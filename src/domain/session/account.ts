import type {KubeObject} from '../../api/kube-object.ts';
import type {Pod} from '../../api/kube-pod.ts';
import {ANNOTATION_ACCOUNT} from '../../api/meta.ts';
import type {PodEnd} from './pod-end.ts';
import type {SessionSeen} from './seen.ts';
import type {Refused} from './steps.ts';

// The tokens of a pod are bound to the UID of its ServiceAccount, and the API server takes none of an account that has been on
// its way out for a minute. A finalizer of somebody else may keep one there for ever.
const TOKENS_LIVE_MS = 60_000;

const RETRY_MS = 5_000;

/** Whether nothing that the runner of this pod says would be taken any more. While there is no account, nothing is known yet. */
export function tokensVoid(seen: AccountSeen, pod: Pod): PodEnd | undefined {
  return leavingLeft(seen) > 0 ? undefined : tokensDoomed(seen, pod);
}

/** The same, and whether it will be so in a minute: such a pod is given nothing new to do. */
export function tokensDoomed({account}: AccountSeen, {metadata, spec}: Pod): PodEnd | undefined {
  const madeWith = metadata.annotations?.[ANNOTATION_ACCOUNT];
  if (madeWith === undefined || account === undefined) return undefined;
  const replaced = account.uid !== madeWith;
  if (!replaced && account.deletionTimestamp === undefined) return undefined;
  const cause = replaced ? 'was deleted and made again' : 'is being deleted';
  const message = `ServiceAccount ${spec.serviceAccountName ?? ''} ${cause}, which voids the tokens of pod ${metadata.name}`;
  return {reason: 'ServiceAccountReplaced', stopped: 'ServiceAccountReplaced', message};
}

/** Milliseconds until the tokens of the present pod are void; undefined while nothing voids them, and when they are. */
export function tokensLeft(seen: AccountSeen & Pick<SessionSeen, 'pod'>): number | undefined {
  const left = seen.pod.kind === 'Present' ? leavingLeft(seen) : 0;
  return left > 0 ? left : undefined;
}

type AccountSeen = Pick<SessionSeen, 'account' | 'now'>;

/** Milliseconds for which the tokens of an account on its way out are still good; 0 for any other. */
function leavingLeft({account, now}: AccountSeen): number {
  const since = account?.deletionTimestamp;
  return since === undefined ? 0 : Date.parse(since) + TOKENS_LIVE_MS - now.getTime();
}

/** Why no pod is made with this ServiceAccount. */
export function leavingAccount({metadata}: KubeObject): Refused | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  const {finalizers = [], name, namespace} = metadata;
  const held =
    finalizers.length === 0
      ? ''
      : `, and finalizers hold it: ${finalizers.join(', ')} (see who set them; if nobody takes them away: kubectl edit serviceaccount ${name} -n ${namespace ?? ''})`;
  const message = `ServiceAccount ${name} of the Agent is being deleted${held}. Once it is gone it is made anew and the session goes on; a pod with it would have no valid token`;
  return {reason: 'ServiceAccountReplaced', stopped: 'ServiceAccountReplaced', message, retryMs: RETRY_MS};
}
