import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Caller, Channel} from '../domain/access/caller.ts';
import {parseGroups} from '../domain/access/groups.ts';
import {Refusal} from '../domain/refusal.ts';
import type {Log} from '../kube/ports.ts';
import type {Identify} from './auth/identify.ts';
import type {Connection} from './call.ts';
import type {GrantTools} from './grant.ts';

/** What opening a connection needs. */
export interface OpenParts {
  readonly identify: Identify;
  readonly grantTools: GrantTools;
  readonly log: Log;
  readonly random: () => string;
  /** Waits of requests in flight. */
  readonly waits: Waits;
}

/** Where a request points: the namespace it names, if any, and how it came. */
export interface Target {
  readonly namespace: string | undefined;
  readonly groups: string | null;
  readonly channel: Channel;
}

/** Identify the caller and fix what its calls may be; throws Refusals. */
export async function openConnection(
  parts: OpenParts,
  {req, res}: {req: IncomingMessage; res: ServerResponse},
  target: Target,
): Promise<Connection> {
  const requestId = parts.random();
  const caller = await parts.identify(req);
  const namespace = namespaceOf(caller, target.namespace);
  const {scope, whole, unknown} = parts.grantTools(caller, parseGroups(target.groups));
  if (unknown.length > 0)
    parts.log.warn(
      {groups: unknown.slice(0, 8).map((g) => g.slice(0, 64)), requestId},
      'unknown tool groups were dropped',
    );
  const signal = parts.waits.until(res);
  return {caller, namespace, scope, whole, channel: target.channel, requestId, signal};
}

/** A session's namespace is its own; others name one in the path or query, service accounts may leave it out. */
export function namespaceOf(caller: Caller, named: string | undefined): string {
  if (caller.kind === 'session') {
    if (named === undefined || named === caller.namespace) return caller.namespace;
    throw new Refusal(
      'namespace_forbidden',
      `A session of namespace "${caller.namespace}" cannot act in namespace "${named}".`,
    );
  }
  const namespace = named ?? caller.home;
  if (namespace === undefined)
    throw new Refusal('namespace_required', 'Name a namespace: /mcp/{namespace}, or ?namespace= for /api/v1.');
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace))
    throw new Refusal('invalid_arguments', 'The namespace is not a valid name.');
  return namespace;
}

/** One signal for each request: it aborts when the caller goes away, or all waits end because the process stops. */
export interface Waits {
  until(res: ServerResponse): AbortSignal;
  end(): void;
}

/** Keep the open waits by hand: signals derived from one that lives as long as the process would pile up on it. */
export function createWaits(): Waits {
  const open = new Set<AbortController>();
  let ended = false;
  return {
    until(res) {
      const wait = new AbortController();
      if (ended) wait.abort();
      open.add(wait);
      res.once('close', () => {
        open.delete(wait);
        if (!res.writableFinished) wait.abort();
      });
      return wait.signal;
    },
    end() {
      ended = true;
      for (const wait of open) wait.abort();
    },
  };
}
