import type {IncomingMessage, ServerResponse} from 'node:http';
import {toNodeHandler} from '@modelcontextprotocol/node';
import {
  type AuthInfo,
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  type Tool as ListedTool,
  type McpHandlerRequestOptions,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
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
  const fetch = async (request: Request, options: McpHandlerRequestOptions = {}): Promise<Response> =>
    (await isLegacyRequest(request, options.parsedBody))
      ? await legacy(factory, request, options)
      : await modern.fetch(request, options);
  const handle = toNodeHandler({fetch}, {onerror: (error) => parts.log.error({error}, 'MCP front failed')});
  return {
    async serve({req, res, body, connection}) {
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

/** Older clients get one JSON body for each message (Z-003). */
async function legacy(
  factory: (context: {authInfo?: AuthInfo}) => Server,
  request: Request,
  options: McpHandlerRequestOptions,
): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({enableJsonResponse: true});
  const server = factory(options);
  await server.connect(transport);
  return await transport.handleRequest(request, options);
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
