import type {ControllerRevision, Node, ServiceCidr} from '../api/kube-core.ts';
import {LABEL_MANAGED_BY, MANAGED_BY} from '../api/meta.ts';
import type {SessionObject} from '../api/v1alpha1/index.ts';
import {ControllerRevisions, Nodes, ServiceCidrs} from '../kube/builtin.ts';
import {Sessions} from '../kube/kinds.ts';
import type {Cache, Caches} from '../kube/ports.ts';

/** Index of Sessions by `status.pod.uid`. */
export const POD_UID = 'podUid';

/** What the relay watches. */
export interface EgressCaches {
  readonly sessions: Cache<SessionObject>;
  readonly revisions: Cache<ControllerRevision>;
  readonly nodes: Cache<Node>;
  readonly serviceCidrs: Cache<ServiceCidr>;
}

/** Register everything the relay caches; call before `caches.start()`. */
export function addEgressCaches(caches: Caches): EgressCaches {
  return {
    sessions: caches.add(Sessions, {
      // Pod and revision are all that is asked of a Session here.
      prune: ({spec: {prompt: _p, notes: _n, ...spec}, status, ...rest}) => ({
        ...rest,
        spec,
        status: {pod: status?.pod, revision: status?.revision},
      }),
      indexes: {[POD_UID]: ({status}) => (status?.pod === undefined ? [] : [status.pod.uid])},
    }),
    revisions: caches.add(ControllerRevisions, {labelSelector: `${LABEL_MANAGED_BY}=${MANAGED_BY}`}),
    nodes: caches.add(Nodes),
    serviceCidrs: caches.add(ServiceCidrs),
  };
}
