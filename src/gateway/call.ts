import {type Caller, type Channel, principalOf, type UserCaller} from '../domain/access/caller.ts';
import {expandGroups, type Scope} from '../domain/access/groups.ts';
import {isWithin} from '../domain/access/lineage.ts';
import {type Need, sayNeed} from '../domain/access/need.ts';
import type {Archive} from '../domain/archive.ts';
import {Refusal} from '../domain/refusal.ts';
import type {Clock} from '../kube/clock.ts';
import type {Log} from '../kube/ports.ts';
import type {Authorize} from './auth/authorize.ts';
import {type SayProgress, telling} from './progress.ts';
import type {Store} from './store.ts';
import type {BoundCall, Tool, ToolCall} from './tool.ts';

/** Who calls, where, and what the connection may see; made anew for each request. */
export interface Connection {
  readonly caller: Caller;
  readonly namespace: string;
  readonly scope: Scope;
  /** Tool names that the credential itself gives, before the URL narrowed them. */
  readonly whole: Scope;
  readonly channel: Channel;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Present when the caller wants to hear of a long call while it lasts. */
  readonly progress?: SayProgress | undefined;
}

/** How a call ended. `hidden`: the connection does not offer such a tool; `refusal` says why not, where a right is missing. */
export type CallReply =
  | {readonly kind: 'done'; readonly data: unknown; readonly text: string; readonly structured: boolean}
  | {readonly kind: 'refused'; readonly refusal: Refusal}
  | {readonly kind: 'hidden'; readonly refusal?: Refusal | undefined};

/** What the call path needs. */
export interface CallParts {
  readonly tools: readonly Tool[];
  readonly store: Store;
  readonly archive: Pick<Archive, 'read'>;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => string;
  readonly askWaitMs: number;
  /** One finished call, for metrics. */
  readonly measure: (tool: string, result: string, seconds: number) => void;
}

/** The one way to tools: `list` and `call` decide with the same function. */
export interface Calls {
  list(connection: Connection): Promise<readonly Tool[]>;
  call(connection: Connection, tool: string, args: unknown): Promise<CallReply>;
}

/** Build the call path: allow, parse, inject what the grant fixes, run, audit, measure. */
export function createCalls(parts: CallParts): Calls {
  const byName = new Map(parts.tools.map((tool) => [tool.name, tool]));
  return {
    async list(connection) {
      const verdicts = await Promise.all(parts.tools.map((tool) => admit(parts, connection, tool)));
      return parts.tools.filter((_, i) => verdicts[i] === undefined);
    },
    async call(connection, name, args) {
      const started = parts.clock.monotonic();
      const tool = byName.get(name);
      const reply = tool === undefined ? hidden : await run(parts, connection, tool, args);
      report(parts, {connection, name: tool?.name ?? 'unknown', reply, ms: parts.clock.monotonic() - started, tool});
      return reply;
    },
  };
}

const hidden: CallReply = {kind: 'hidden'};

async function run(parts: CallParts, connection: Connection, tool: Tool, args: unknown): Promise<CallReply> {
  const breadth = connection.scope.tools.get(tool.name);
  if (breadth === undefined || (tool.sessionOnly && connection.caller.kind !== 'session')) return hidden;
  try {
    const bound = tool.bind(args, breadth, connection.caller);
    const refusal = await admit(parts, connection, tool, bound);
    if (refusal !== undefined) {
      const listed = (await admit(parts, connection, tool)) === undefined;
      return listed ? {kind: 'refused', refusal} : {kind: 'hidden', refusal};
    }
    return {kind: 'done', ...(await bound.run(contextOf(parts, connection)))};
  } catch (error) {
    return {kind: 'refused', refusal: refusalOf(parts, connection, tool, error)};
  }
}

/**
 * The one decision: may this connection use this tool, for this call or (without `bound`) at all? Undefined = yes.
 * A session acts on itself and its descendants; a Kubernetes user needs the rights that the tool names.
 */
async function admit(
  parts: CallParts,
  connection: Connection,
  tool: Tool,
  bound?: BoundCall,
): Promise<Refusal | undefined> {
  const {caller, namespace, scope} = connection;
  if (!scope.tools.has(tool.name))
    return new Refusal('forbidden', `Tool ${tool.name} is not offered on this connection.`);
  if (caller.kind === 'session') {
    return bound?.subject === undefined || within(parts.store, connection, bound.subject)
      ? undefined
      : unseen(bound.subject, namespace);
  }
  if (tool.sessionOnly) return new Refusal('session_required', 'Only a session can call this tool.');
  let refusal: Refusal | undefined;
  for (const needs of bound === undefined ? tool.listNeeds : [bound.needs]) {
    refusal = await firstLacking(parts, {caller, namespace}, needs);
    if (refusal === undefined) return undefined;
  }
  return refusal;
}

async function firstLacking(
  parts: CallParts,
  {caller, namespace}: {caller: UserCaller; namespace: string},
  needs: readonly Need[],
): Promise<Refusal | undefined> {
  for (const need of needs) {
    if (!(await parts.authorize(caller, namespace, need))) return lacking(caller, namespace, need);
  }
  return undefined;
}

function contextOf(parts: CallParts, connection: Connection): Omit<ToolCall<unknown>, 'input'> {
  const {caller, namespace, channel, signal, whole} = connection;
  const {store, archive, random, askWaitMs, authorize, tools} = parts;
  const may = async (need: Need): Promise<boolean> =>
    caller.kind !== 'session' && (await authorize(caller, namespace, need));
  return {
    caller,
    namespace,
    channel,
    store,
    archive,
    random,
    askWaitMs,
    signal,
    during: telling(parts.clock, connection.progress),
    now: new Date(parts.clock.now()),
    allowedTools: new Set(whole.tools.keys()),
    toolsOf: (groups) => new Set(expandGroups(groups, tools).tools.keys()),
    may,
    async require(need) {
      if (!(await may(need))) throw lacking(caller, namespace, need);
    },
    session(name) {
      const found = store.session(namespace, name);
      if (found === undefined || (caller.kind === 'session' && !within(store, connection, name)))
        throw unseen(name, namespace);
      return found;
    },
  };
}

function within(store: Store, {caller, namespace}: Connection, name: string): boolean {
  if (caller.kind !== 'session') return false;
  const own = store.session(namespace, caller.name);
  const target = store.session(namespace, name);
  if (own?.metadata.uid !== caller.uid || target === undefined) return false;
  return isWithin(own, target, (n) => store.session(namespace, n));
}

function unseen(name: string, namespace: string): Refusal {
  return new Refusal(
    'session_not_found',
    `No session "${name}" that you may see in namespace "${namespace}"; search with quick_search_sessions.`,
  );
}

function lacking(caller: Caller, namespace: string, need: Need): Refusal {
  return new Refusal(
    'forbidden',
    `${principalOf(caller)} may not ${sayNeed(need)} in namespace "${namespace}"; bind a Role that allows it.`,
  );
}

function refusalOf(parts: CallParts, connection: Connection, tool: Tool, error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (connection.signal.aborted) return new Refusal('cancelled', 'The caller went away.');
  parts.log.error({error, tool: tool.name, requestId: connection.requestId}, 'tool failed');
  return new Refusal('internal', `The gateway failed; its log has the details under request ${connection.requestId}.`);
}

function report(
  parts: CallParts,
  {
    connection,
    name,
    reply,
    ms,
    tool,
  }: {connection: Connection; name: string; reply: CallReply; ms: number; tool: Tool | undefined},
): void {
  const result = reply.kind === 'refused' ? reply.refusal.code : reply.kind;
  parts.measure(name, result, ms / 1_000);
  const {caller, namespace, channel, requestId} = connection;
  const who = {
    principal: principalOf(caller),
    callerKind: caller.kind,
    ...(caller.kind === 'session' ? {podUid: caller.podUid} : {keyName: caller.keyName}),
  };
  parts.log.info(
    {audit: true, tool: name, effect: tool?.effect, result, ms: Math.round(ms), namespace, channel, requestId, ...who},
    'tool call',
  );
}
