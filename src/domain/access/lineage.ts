import type {SessionObject} from '../../api/v1alpha1/index.ts';

/** Longest chain of parents that is followed: deeper trees give no authority. */
export const MAX_DEPTH = 64;

/** Finds a Session of the same namespace by name. */
export type FindSession = (name: string) => SessionObject | undefined;

/** The Session above this one, if it still exists as the same object. */
export function parentOf(session: SessionObject, find: FindSession): SessionObject | undefined {
  const requester = session.spec.requester;
  if (requester === undefined) return undefined;
  const parent = find(requester.session);
  return parent?.metadata.uid === requester.uid ? parent : undefined;
}

/**
 * True when `target` is the session itself, or descends from it and has its owner: a person who puts a session of their own
 * below somebody else's gives that one nothing. The chain goes by UID, so a recreated name gives nothing, and a deleted link
 * ends the authority.
 */
export function isWithin(
  {metadata: {uid}, spec: {owner}}: SessionObject,
  target: SessionObject,
  find: FindSession,
): boolean {
  if (target.metadata.uid === uid) return true;
  if (target.spec.owner !== owner) return false;
  let at: SessionObject | undefined = target;
  for (let depth = 0; at !== undefined && depth < MAX_DEPTH; depth++) {
    if (at.metadata.uid === uid || at.spec.requester?.uid === uid) return true;
    at = parentOf(at, find);
  }
  return false;
}

/** The first Session of the tree. */
export function rootOf(session: SessionObject, find: FindSession): SessionObject {
  let at = session;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const parent = parentOf(at, find);
    if (parent === undefined) return at;
    at = parent;
  }
  return at;
}
