import {isDeepStrictEqual} from 'node:util';
import type {SessionObject, SessionStatus} from '../api/v1alpha1/index.ts';
import {isApiError} from '../kube/errors.ts';
import {Sessions} from '../kube/kinds.ts';
import type {Client} from '../kube/ports.ts';
import {writeStatus} from '../kube/status.ts';

const TRIES = 5;

/** What the controllers write of a status; the runner's part is the gateway's. */
export function ownPart({status}: SessionObject): object {
  const {runner: _gateways, ...own} = status ?? {};
  return own;
}

/** A status to write, and whether steps that cannot be taken back were done for it. */
export interface SessionRecord {
  session: SessionObject;
  status: SessionStatus;
  final: boolean;
}

/**
 * Writes the status. After final steps a report of the runner or an edit of the spec that came meanwhile must not undo the
 * record: without it the end of a pod that failed would look like a loss, and another attempt would follow.
 */
export async function recordStatus(
  write: Pick<Client, 'find' | 'patchStatusMerge'>,
  {session, status, final}: SessionRecord,
): Promise<SessionObject> {
  const {namespace, name, uid} = session.metadata;
  let object = session;
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeStatus({write, resource: Sessions, object, status});
    } catch (error) {
      if (!final || !isApiError(error, 'Conflict') || attempt >= TRIES) throw error;
      const newest = await write.find(Sessions, {namespace, name});
      if (newest?.metadata.uid !== uid || !isDeepStrictEqual(ownPart(newest), ownPart(session))) throw error;
      // What was seen stays what is compared: the patch names no field of the gateway's.
      object = {...session, metadata: newest.metadata};
    }
  }
}
