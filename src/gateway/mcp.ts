import type {IncomingMessage, ServerResponse} from 'node:http';
import {toNodeHandler} from '@modelcontextprotocol/node';
import {
  type AuthInfo,
  type CallToolResult,
  classifyInboundRequest,
  createMcpHandler,
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type McpServer,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  Server,
  type ServerContext,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import {sendJson} from '../http/reply.ts';
import type {Log} from '../kube/ports.ts';
import type {CallReply, Calls, Connection} from './call.ts';
import type {SayProgress} from './progress.ts';
import {createListCache, type ListCache} from './tool-list.ts';

// The only file that knows the MCP SDK. Both protocol eras on one URL, a server object for each request, no session ids.

/** Serve one JSON-RPC message of an identified caller; `body` is the parsed body. */
export type ServeMcp = (exchange: {
  req: IncomingMessage;
  res: ServerResponse;
  body: unknown;
  connection: Connection;
}) => Promise<void>;

/** What the MCP front needs. */
export interface McpParts {
  readonly calls: Calls;
  readonly version: string;
  readonly log: Log;
}

const INSTRUCTIONS =
  'Carrel runs agents in sessions. get_session shows a session, action_session acts on one, start_session starts one. Errors begin with a stable code.';

/** A client may keep the tool list for a minute, for itself only. */
const CACHE = {ttlMs: 60_000, cacheScope: 'private'} as const;

/** The front of MCP: serves messages until it is closed. */
export interface McpFront {
  readonly serve: ServeMcp;
  close(): Promise<void>;
}

/** Build the MCP front over the tools. */
export function createMcp(parts: McpParts): McpFront {
  const lists = createListCache();
  return createMcpFront({log: parts.log, build: (asking) => buildServer(parts, asking, lists)});
}

/** Who sent a request, and whether its reply may be a stream. */
export interface Asking {
  readonly connection: Connection;
  readonly takesStream: boolean;
}

/** What a front is made of; `build` makes the server of one request. */
export interface FrontParts {
  readonly log: Log;
  readonly build: (asking: Asking) => Server | McpServer;
}

/** Both protocol eras over one builder of servers. */
export function createMcpFront({log, build}: FrontParts): McpFront {
  // The SDK hands this object through untouched: it carries the caller, and no token.
  const callers = new WeakMap<AuthInfo, Asking>();
  const factory = ({authInfo}: {authInfo?: AuthInfo}): Server | McpServer => {
    const asking = authInfo === undefined ? undefined : callers.get(authInfo);
    if (asking === undefined) throw new Error('a request reached the MCP server without a caller');
    return build(asking);
  };
  const onerror = (error: Error) => log.debug({problem: error.message}, 'MCP request refused');
  const modern = createMcpHandler(factory, {legacy: 'reject', onerror});
  const handle = toNodeHandler(modern, {onerror: (error) => log.error({error}, 'MCP front failed')});
  return {
    async serve({req, res, body, connection}) {
      const asking = {connection, takesStream: takesStream(req)};
      const version = headerOf(req, 'mcp-protocol-version');
      if (isPlainlyOlder(version, body)) return await answerOlder(build(asking), {req, res, request: body});
      if (isOlder(req, body)) return await serveOlder(() => build(asking), {req, res, body});
      const auth: AuthInfo = {token: '', clientId: '', scopes: []};
      callers.set(auth, asking);
      const {url = '/mcp'} = req;
      // The body is parsed already, so nothing is read from the request any more.
      const iterator = () => req[Symbol.asyncIterator]();
      await handle({method: 'POST', url, headers: headersFor(req), auth, [Symbol.asyncIterator]: iterator}, res, body);
    },
    close: () => modern.close(),
  };
}

/** What the SDK gets to see: no credential ever, and any Accept header will do (Z-005). */
function headersFor(req: IncomingMessage): Record<string, string | string[] | undefined> {
  const mcp = Object.entries(req.headers).filter(([name]) => name.startsWith('mcp-'));
  const {host} = req.headers;
  return {
    host,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...Object.fromEntries(mcp),
  };
}

/**
 * Whether this is, at a glance, a request that the SDK would call older: the whole look at a message costs as much as the
 * rest of the front, and nearly all messages are of this kind. Says no wherever a closer look is needed.
 */
export function isPlainlyOlder(version: string | undefined, body: unknown): body is JSONRPCRequest {
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return false;
  if (!isJSONRPCRequest(body)) return false;
  return body.params?._meta === undefined || !(PROTOCOL_VERSION_META_KEY in body.params._meta);
}

function isOlder(req: IncomingMessage, body: unknown): boolean {
  const version = headerOf(req, 'mcp-protocol-version');
  const method = headerOf(req, 'mcp-method');
  const name = headerOf(req, 'mcp-name');
  const route = classifyInboundRequest({
    httpMethod: 'POST',
    body,
    ...(version === undefined ? {} : {protocolVersionHeader: version}),
    ...(method === undefined ? {} : {mcpMethodHeader: method}),
    ...(name === undefined ? {} : {mcpNameHeader: name}),
  });
  return route.kind === 'legacy';
}

/** Only who names event streams gets one: `*\/*` of a plain client means one JSON body (Z-003). */
function takesStream(req: IncomingMessage): boolean {
  return req.headers.accept?.includes('text/event-stream') === true;
}

/** What older clients send beside requests with a version that is known. */
async function serveOlder(
  build: () => Server | McpServer,
  {req, res, body}: {req: IncomingMessage; res: ServerResponse; body: unknown},
): Promise<void> {
  const message = parseJSONRPCMessage(body);
  const version = headerOf(req, 'mcp-protocol-version');
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version) && !isInitializeRequest(message)) {
    const known = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
    const error = {code: -32_000, message: `Unsupported protocol version: ${version} (supported versions: ${known})`};
    return sendJson(res, 400, {jsonrpc: '2.0', id: null, error});
  }
  if (isJSONRPCRequest(message)) return await answerOlder(build(), {req, res, request: message});
  // A notification, or a reply to nobody: no server lives on that could hear it.
  res.writeHead(202, {'content-length': '0'}).end();
}

/**
 * Older clients get one JSON body for each request (Z-003), or a stream when something is told before the reply. The SDK's
 * own HTTP transport would do the same by way of web requests, streams and responses, and that is more work than all the
 * rest of a call.
 */
async function answerOlder(
  server: Server | McpServer,
  {req, res, request}: {req: IncomingMessage; res: ServerResponse; request: JSONRPCRequest},
): Promise<void> {
  const transport = new OneReply(takesStream(req) ? res : undefined);
  await server.connect(transport);
  const reply = await transport.ask(request);
  if (res.headersSent) res.end(eventOf(reply));
  else sendJson(res, 200, reply);
}

function eventOf(message: JSONRPCMessage): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

/**
 * The wire of a server that lives for one request. What is told of the request before its reply opens the stream, where the
 * client takes one; everything else has nowhere to go.
 */
class OneReply implements Transport {
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  onmessage?: Transport['onmessage'];
  readonly #reply = Promise.withResolvers<JSONRPCMessage>();
  readonly #stream: ServerResponse | undefined;

  constructor(stream: ServerResponse | undefined) {
    this.#stream = stream;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    // By their members: a message of our own server needs no second look.
    if (!('method' in message)) return this.#reply.resolve(message);
    // Else whoever asks would wait for an answer that cannot come.
    if ('id' in message) throw new Error('a client of this revision cannot be asked anything during a call');
    if (options?.relatedRequestId === undefined) return;
    const stream = this.#stream;
    if (stream === undefined || stream.writableEnded || stream.destroyed) return;
    if (!stream.headersSent) stream.writeHead(200, STREAM);
    stream.write(eventOf(message));
  }

  async close(): Promise<void> {
    this.onclose?.();
  }

  ask(message: JSONRPCMessage): Promise<JSONRPCMessage> {
    this.onmessage?.(message);
    return this.#reply.promise;
  }
}

/** Nothing between here and the client may hold an event back. */
const STREAM = {'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no'} as const;

function headerOf(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function buildServer({calls, version}: McpParts, {connection, takesStream: streams}: Asking, lists: ListCache): Server {
  const server = new Server(
    {name: 'carrel', version},
    {
      capabilities: {tools: {}},
      instructions: INSTRUCTIONS,
      cacheHints: {'tools/list': CACHE, 'server/discover': CACHE},
    },
  );
  server.setRequestHandler('tools/list', async () => ({tools: lists(connection.scope, await calls.list(connection))}));
  server.setRequestHandler('tools/call', async ({params}, context) => {
    const asked = {...connection, progress: streams ? progressOf(context) : undefined};
    const reply = await calls.call(asked, params.name, params.arguments);
    // Not advertised on this connection: a protocol error, not a tool result (Z-027).
    if (reply.kind === 'hidden') {
      const why = reply.refusal === undefined ? '' : `: ${reply.refusal.message}`;
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Tool ${params.name} not found on this connection${why}`,
      );
    }
    return toolResult(reply);
  });
  return server;
}

/** How to tell of progress, for a client that asked for it. */
function progressOf({mcpReq}: ServerContext): SayProgress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress, message) => {
    const params = {progressToken, progress, message};
    // A client that went away is noticed by its connection, not here.
    mcpReq.notify({method: 'notifications/progress', params}).catch(() => undefined);
  };
}

function toolResult(reply: Exclude<CallReply, {kind: 'hidden'}>): CallToolResult {
  if (reply.kind === 'refused') {
    const {code, message} = reply.refusal;
    return {isError: true, content: [{type: 'text', text: `${code}: ${message}`}]};
  }
  const content: CallToolResult['content'] = [{type: 'text', text: reply.text}];
  return isStructured(reply) ? {content, structuredContent: reply.data} : {content};
}

// Tools that render text for a model send only that; the others send their data in both forms.
function isStructured(reply: Done): reply is Done & {data: Record<string, unknown>} {
  return reply.structured && typeof reply.data === 'object' && reply.data !== null;
}

type Done = Extract<CallReply, {kind: 'done'}>;
