import type {ControllerRevision} from '../api/kube-core.ts';
import type {Caller, SessionCaller} from '../domain/access/caller.ts';
import {DEFAULT_GROUPS, expandGroups, intersect, type Scope, unknownGroups} from '../domain/access/groups.ts';
import {parseRevision} from '../domain/agent/revision.ts';
import type {GatewayCaches} from './caches.ts';
import type {Tool} from './tool.ts';

/** The tools of a connection, and the group names that meant nothing. */
export interface Grant {
  readonly scope: Scope;
  /** Groups as allowed by the credential, before the URL narrowed them; for children of a session. */
  readonly whole: Scope;
  readonly unknown: readonly string[];
}

/** What a credential gives, narrowed by the groups of the URL; undefined groups = not narrowed. */
export type GrantTools = (caller: Caller, groups: readonly string[] | undefined) => Grant;

/** A session has what its revision pins AND its live Agent allows; people and keys are bounded by RBAC instead. */
export function createGrants(
  caches: Pick<GatewayCaches, 'agents' | 'sessions' | 'revisions'>,
  tools: readonly Tool[],
): GrantTools {
  const pinned = new WeakMap<ControllerRevision, readonly string[]>();
  const expand = remembered(
    (groups: readonly string[]) => expandGroups(groups, tools),
    (groups) => groups.join(','),
  );
  // Equal scopes have equal keys, so a pair of them is known by both.
  const both = remembered(
    ([a, b]: readonly [Scope, Scope]) => intersect(a, b),
    ([a, b]) => `${a.key}|${b.key}`,
  );
  const groupsOf = (revision: ControllerRevision): readonly string[] => {
    const known = pinned.get(revision);
    if (known !== undefined) return known;
    const parsed = parseRevision(revision);
    const groups = 'data' in parsed ? parsed.data.spec.groups : [];
    pinned.set(revision, groups);
    return groups;
  };
  const sessionScope = ({namespace, name}: SessionCaller): Scope => {
    const session = caches.sessions.get({namespace, name});
    const revisionName = session?.status?.revision;
    const revision = revisionName === undefined ? undefined : caches.revisions.get({namespace, name: revisionName});
    const agent = session === undefined ? undefined : caches.agents.get({namespace, name: session.spec.agent});
    const pin = revision === undefined ? [] : groupsOf(revision);
    return both([expand(pin), expand(agent?.spec.groups ?? [])]);
  };
  return (caller, groups) => {
    const unknown = unknownGroups(groups ?? []);
    if (caller.kind === 'session') {
      const whole = sessionScope(caller);
      return {scope: groups === undefined ? whole : both([whole, expand(groups)]), whole, unknown};
    }
    const scope = expand(groups ?? DEFAULT_GROUPS);
    return {scope, whole: scope, unknown};
  };
}

/** Lists of groups are few; a caller who makes up new ones is served all the same. */
const REMEMBERED = 256;

function remembered<A, R>(make: (input: A) => R, keyOf: (input: A) => string): (input: A) => R {
  const known = new Map<string, R>();
  return (input) => {
    const key = keyOf(input);
    const made = known.get(key) ?? make(input);
    if (known.size < REMEMBERED) known.set(key, made);
    return made;
  };
}
