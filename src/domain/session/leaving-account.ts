import type {KubeObject} from '../../api/kube-object.ts';
import type {Refused} from './steps.ts';

const RETRY_MS = 5_000;

/**
 * Why no pod is made with this ServiceAccount: the API server takes no token of one that has been on its way out for a
 * minute, and a finalizer of somebody else may keep it there for ever.
 */
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
