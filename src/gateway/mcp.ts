import type {IncomingMessage, ServerResponse} from 'node:http';
import {toNodeHandler} from '@modelcontextprotocol/node';
import {
  type AuthInfo,
  type CallToolResult,
  classifyInboundRequest,
  createMcpHandler,
  isInitializeRequest,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type Tool as ListedTool,
  ProtocolError,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  Server,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
} from '@modelcontextprotocol/server';
import {sendJson} from '../http/reply.ts';
import type {Log} from '../kube/ports.ts';
import type {CallReply, Calls, Connection} from './call.ts';
import type {Tool} from './tool.ts';

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

/** Build the MCP front. */
export function createMcp(parts: McpParts): {serve: ServeMcp; close(): Promise<void>} {
  // The SDK hands this object through untouched: it carries the connection, and no token.
  const connections = new WeakMap<AuthInfo, Connection>();
  const lists = createListCache();
  const factory = ({authInfo}: {authInfo?: AuthInfo}): Server => {
    const connection = authInfo === undefined ? undefined : connections.get(authInfo);
    if (connection === undefined) throw new Error('a request reached the MCP server without a caller');
    return buildServer(parts, connection, lists);
  };
  const onerror = (error: Error) => parts.log.debug({problem: error.message}, 'MCP request refused');
  const modern = createMcpHandler(factory, {legacy: 'reject', onerror});
  const handle = toNodeHandler(modern, {onerror: (error) => parts.log.error({error}, 'MCP front failed')});
  return {
    async serve({req, res, body, connection}) {
      if (isOlder(req, body)) return await serveOlder(buildServer(parts, connection, lists), {req, res, body});
      const auth: AuthInfo = {token: '', clientId: '', scopes: []};
      connections.set(auth, connection);
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

/**
 * Older clients get one JSON body for each message (Z-003). The SDK's own HTTP transport would do the same by way of web
 * requests, streams and responses, and that is more work than all the rest of a call.
 */
async function serveOlder(
  server: Server,
  {req, res, body}: {req: IncomingMessage; res: ServerResponse; body: unknown},
): Promise<void> {
  const message = parseJSONRPCMessage(body);
  const version = headerOf(req, 'mcp-protocol-version');
  if (version !== undefined && !isInitializeRequest(message) && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    const known = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
    const error = {code: -32_000, message: `Unsupported protocol version: ${version} (supported versions: ${known})`};
    return sendJson(res, 400, {jsonrpc: '2.0', id: null, error});
  }
  if (!isJSONRPCRequest(message)) {
    // A notification, or a reply to nobody: no server lives on that could hear it.
    res.writeHead(202, {'content-length': '0'}).end();
    return;
  }
  const transport = new OneReply();
  await server.connect(transport);
  sendJson(res, 200, await transport.ask(message));
}

/** The wire of a server that lives for one request: what is not the reply to it has nowhere to go. */
class OneReply implements Transport {
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  onmessage?: Transport['onmessage'];
  readonly #reply = Promise.withResolvers<JSONRPCMessage>();

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCResponse(message)) this.#reply.resolve(message);
  }

  async close(): Promise<void> {
    this.onclose?.();
  }

  ask(message: JSONRPCMessage): Promise<JSONRPCMessage> {
    this.onmessage?.(message);
    return this.#reply.promise;
  }
}

function headerOf(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function buildServer({calls, version}: McpParts, connection: Connection, lists: ListCache): Server {
  const server = new Server(
    {name: 'carrel', version},
    {
      capabilities: {tools: {}},
      instructions: INSTRUCTIONS,
      cacheHints: {'tools/list': CACHE, 'server/discover': CACHE},
    },
  );
  server.setRequestHandler('tools/list', async () => ({tools: lists(connection, await calls.list(connection))}));
  server.setRequestHandler('tools/call', async ({params}) => {
    const reply = await calls.call(connection, params.name, params.arguments);
    // Not advertised on this connection: a protocol error, not a tool result (Z-027).
    if (reply.kind === 'hidden')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${params.name} not found on this connection`);
    return toolResult(reply);
  });
  return server;
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

type ListCache = (connection: Connection, tools: readonly Tool[]) => ListedTool[];

/** Tool lists are made once per scope: a scope is the same for all connections with equal tools. */
function createListCache(): ListCache {
  const known = new Map<string, ListedTool[]>();
  return ({scope}, tools) => {
    const key = tools.map((t) => `${t.name}:${scope.tools.get(t.name)}`).join(',');
    const list = known.get(key) ?? tools.map((tool) => listed(tool, scope.tools.get(tool.name) ?? 'narrowed'));
    if (known.size < 256) known.set(key, list);
    return list;
  };
}

function listed(tool: Tool, breadth: 'whole' | 'narrowed'): ListedTool {
  const readOnly = tool.effect === 'read';
  const annotations = {
    readOnlyHint: readOnly,
    destructiveHint: tool.effect === 'delete',
    idempotentHint: readOnly,
    openWorldHint: false,
  };
  const {description, inputSchema, outputSchema} = tool.describe(breadth);
  return {
    name: tool.name,
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : {outputSchema}),
    annotations,
  };
}
