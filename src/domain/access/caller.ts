/** Who makes a call; decided once, from the credential alone. No argument ever names a caller. */
export type Caller = SessionCaller | UserCaller;

/** A session, by its pod-bound token. It has no RBAC: it acts on itself and its descendants. */
export interface SessionCaller {
  readonly kind: 'session';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly podUid: string;
}

/** A Kubernetes user: by a token of its own, or by an API key that stands for a service account. */
export interface UserCaller {
  readonly kind: 'user' | 'key';
  readonly user: string;
  readonly uid: string | undefined;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
  /** Namespace of the service account, where the user is one. */
  readonly home: string | undefined;
  /** Name of the API key, for the audit line. */
  readonly keyName: string | undefined;
}

/** Where a call came in. */
export type Channel = 'mcp' | 'api';

/** One string for logs and idempotency records; never a secret. */
export function principalOf(caller: Caller): string {
  return caller.kind === 'session' ? `session:${caller.namespace}/${caller.name}` : caller.user;
}

/** Author of what this caller writes. Human only for people: never for a service account, so never for an API key. */
export function authorOf(
  caller: Caller,
  channel: Channel,
): {kind: 'Human' | 'Agent'; name: string; session?: string; channel: string} {
  if (caller.kind === 'session') return {kind: 'Agent', name: caller.name, session: caller.name, channel};
  const machine = caller.kind === 'key' || caller.user.startsWith('system:');
  return {kind: machine ? 'Agent' : 'Human', name: caller.user, channel};
}
