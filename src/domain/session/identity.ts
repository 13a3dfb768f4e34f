import type {SessionObject} from '../../api/v1alpha1/index.ts';
import type {SessionIdentity} from './volume.ts';

/** What children carry of a Session. */
export function identityOf(session: SessionObject): SessionIdentity {
  const {name, uid, namespace} = session.metadata;
  return {name, uid, namespace: namespace ?? ''};
}
