import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import {answerOrCut} from './answer-or-cut.ts';
import {startNameAnswerer} from './dns.ts';
import {refuseForm} from './guard.ts';
import {createHttpsProxy} from './https-proxy.ts';
import {McpForward} from './mcp-forward.ts';
import {ModelProxy} from './model-proxy.ts';
import type {Loopback, StartLoopback} from './ports.ts';
import {ToolsSeen} from './tools-seen.ts';

export {checkIsolation} from './isolation.ts';

const ADDRESS = '127.0.0.1';
/** Connections of the agent at the same time, to each of the two servers. */
const MAX_CONNECTIONS = 256;

/** Binds the loopback servers of the session; when it returns, the agent may be started. */
export const startLoopback: StartLoopback = async (options) => {
  const {launch, key} = options;
  const seen = new ToolsSeen();
  const mcp = new McpForward(options, () => seen.listed());
  const model = launch.model?.proxy === 'Loopback' ? new ModelProxy(options, launch.model) : undefined;
  await model?.check();
  const main = createServer({maxHeaderSize: 16_384});
  const proxy = createHttpsProxy(options);
  // Bound one after the other: if the second is taken, the first must not stay open.
  const bound = await bind(main, options.ports.loopback);
  const boundProxy = await bind(proxy, options.ports.proxy).catch(async (error: unknown) => {
    await close(bound);
    throw error;
  });
  const host = `${ADDRESS}:${bound.port}`;
  main.on('request', (request, response) => {
    route({request, response, host, mcp, model}).catch((error: unknown) => {
      // Only what the agent cannot cause ends here; the message may hold anything, so it is not sent.
      options.log.warn({error: errorName(error)}, 'a loopback request failed');
      answerOrCut(response, 500, JSON.stringify({error: {code: 'internal', message: 'the runner failed: try again'}}));
    });
  });
  const dns = await startNameAnswerer(options.ports.dns, options.log);
  return {
    mcpUrl: `http://${host}/mcp`,
    mcpToken: key,
    modelUrl: model ? `http://${host}/model` : '',
    modelKey: model ? key : '',
    modelName: model ? (launch.model?.name ?? '') : '',
    proxyUrl: `http://carrel:${key}@${ADDRESS}:${boundProxy.port}`,
    toolsListed: () => seen.seen(),
    forgetTools: () => seen.forget(),
    onToolsListed: (callback) => seen.subscribe(callback),
    modelUsage: () => model?.ledger.usage() ?? {inputTokens: 0, outputTokens: 0, requests: 0},
    lastModelError: () => model?.ledger.lastError(),
    findings: () => model?.findings() ?? [],
    close: async () => {
      await Promise.all([close(bound), close(boundProxy), dns?.close()]);
    },
  } satisfies Loopback;
};

interface Routed {
  request: IncomingMessage;
  response: ServerResponse;
  host: string;
  mcp: McpForward;
  model: ModelProxy | undefined;
}

async function route({request, response, host, mcp, model}: Routed): Promise<void> {
  const refusal = refuseForm(request, host);
  if (refusal) return answerOrCut(response, refusal.status, JSON.stringify({error: refusal}));
  const target = request.url ?? '';
  if (target === '/mcp') return await mcp.answer(request, response);
  if (target.startsWith('/model/') && model)
    return await model.answer(request, response, target.slice('/model'.length));
  const paths = model ? '/mcp and /model' : '/mcp; this agent has no model behind a proxy';
  answerOrCut(response, 404, JSON.stringify({error: {code: 'not_found', message: `nothing here: use ${paths}`}}));
}

function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

/** A bound server and every socket of it: a tunnel no longer belongs to the HTTP server, which would wait for it. */
interface Bound {
  server: Server;
  sockets: Set<Socket>;
  port: number;
}

async function bind(server: Server, port: number): Promise<Bound> {
  const sockets = new Set<Socket>();
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // The agent's uid could bind the port later on another address only: the URLs that are handed out are literal.
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({host: ADDRESS, port, exclusive: true}, resolve);
  });
  const address = server.address();
  return {server, sockets, port: typeof address === 'object' && address !== null ? address.port : port};
}

async function close({server, sockets}: Bound): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}
