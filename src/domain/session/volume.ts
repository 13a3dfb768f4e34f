import type {PersistentVolumeClaim} from '../../api/kube-core.ts';
import type {Manifest, OwnerReference} from '../../api/kube-object.ts';
import {
  API_VERSION,
  LABEL_MANAGED_BY,
  LABEL_SESSION,
  LABEL_SESSION_UID,
  MANAGED_BY,
  POD_PREFIX,
  uid8,
} from '../../api/meta.ts';
import type {RevisionData} from '../agent/revision.ts';

/** Identity of a Session, as children carry it. */
export interface SessionIdentity {
  name: string;
  uid: string;
  namespace: string;
}

/** Labels of every child of a Session. */
export function sessionLabels(session: SessionIdentity): Record<string, string> {
  return {[LABEL_MANAGED_BY]: MANAGED_BY, [LABEL_SESSION]: session.name, [LABEL_SESSION_UID]: session.uid};
}

/** Owner reference of a child: by UID; never blocks the deletion of the Session. */
export function ownedBySession(session: SessionIdentity): OwnerReference {
  return {
    apiVersion: API_VERSION,
    kind: 'Session',
    name: session.name,
    uid: session.uid,
    controller: true,
    blockOwnerDeletion: false,
  };
}

/** Name of the volume claim; a Session that was deleted and made again gets another one. */
export function volumeClaimName(session: SessionIdentity): string {
  return `${POD_PREFIX}${session.name}-${uid8(session.uid)}`;
}

/** The claim for workspace and conversation. */
export function buildVolumeClaim(
  session: SessionIdentity,
  revision: RevisionData,
  accessMode: string,
): Manifest<PersistentVolumeClaim> {
  const {size, storageClassName} = revision.spec.workspace;
  return {
    metadata: {
      name: volumeClaimName(session),
      namespace: session.namespace,
      labels: sessionLabels(session),
      ownerReferences: [ownedBySession(session)],
    },
    spec: {
      accessModes: [accessMode],
      resources: {requests: {storage: size}},
      ...(storageClassName === undefined ? {} : {storageClassName}),
    },
  };
}
