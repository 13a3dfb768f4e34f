import type {IncomingMessage, ServerResponse} from 'node:http';
import {Refusal} from '../domain/refusal.ts';
import type {Log} from '../kube/ports.ts';
import {type OpenParts, openConnection} from './connection.ts';
import {readJson} from './http/body.ts';
import {type Allowlists, checkOrigin} from './http/guard.ts';
import {type SayRefusal, sayJsonRpc, sayProblem} from './http/say.ts';
import {createSlots, type Slot} from './http/slots.ts';
import type {ServeMcp} from './mcp.ts';
import {type RestParts, restMethods, serveRest} from './rest/index.ts';

/** Serves everything under `/runner/v1`, with a credential of its own. */
export type RunnerApi = (req: IncomingMessage, res: ServerResponse, url: URL) => Promise<void>;

/** What the routes need. */
export interface RouteParts extends OpenParts {
  readonly allowlists: Allowlists;
  readonly mcp: ServeMcp;
  readonly rest: RestParts;
  readonly runnerApi: RunnerApi;
  /** Requests worked on at once, runner streams not counted; one caller or namespace gets a part of them. */
  readonly maxInFlight: number;
  /** One answered request, for metrics. */
  readonly answered: (route: string, status: number) => void;
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly url: URL;
  readonly slot: Slot;
}

/** The listener of the main port: choose the front, guard it, turn what it throws into its own kind of error. */
export function createListener(parts: RouteParts): (req: IncomingMessage, res: ServerResponse) => void {
  const enter = createSlots(parts.maxInFlight);
  return (req, res) => {
    const url = urlOf(req);
    const front = frontOf(url?.pathname ?? '');
    res.once('close', () => parts.answered(front.name, res.statusCode));
    const work = async () => {
      if (url === undefined) throw new Refusal('path_not_found', 'Nothing is served at this path.');
      checkOrigin(req, parts.allowlists);
      const slot = front.name === 'runner' ? UNCOUNTED : enter(req.socket.remoteAddress ?? 'unknown');
      try {
        await front.serve(parts, {req, res, url, slot});
      } finally {
        slot.leave();
      }
    };
    work().catch((error: unknown) => fail(parts.log, front.say, {req, res}, error));
  };
}

/** Streams of runners last as long as their sessions, and are bounded by them. */
const UNCOUNTED: Slot = {claim: () => undefined, leave: () => undefined};

interface Front {
  readonly name: 'mcp' | 'api' | 'runner' | 'other';
  readonly say: SayRefusal;
  serve(parts: RouteParts, exchange: Exchange): Promise<void>;
}

const MCP: Front = {
  name: 'mcp',
  say: sayJsonRpc,
  async serve(parts, {req, res, url, slot}) {
    const match = /^\/mcp(?:\/([^/]+))?\/?$/.exec(url.pathname);
    if (match === null)
      throw new Refusal('path_not_found', 'Nothing is served at this path; MCP is at /mcp and /mcp/{namespace}.');
    if (req.method !== 'POST') throw new NotThisMethod(['POST']);
    const target = {namespace: match[1], groups: url.searchParams.get('tool_groups'), channel: 'mcp'} as const;
    const connection = await openConnection(parts, {req, res}, target);
    slot.claim(connection.caller, connection.namespace);
    const body = await readJson(req);
    if (Array.isArray(body))
      throw new Refusal('batch_refused', 'Batches are not served; send one message per request.');
    await parts.mcp({req, res, body, connection});
  },
};

const API: Front = {
  name: 'api',
  say: sayProblem,
  async serve(parts, {req, res, url, slot}) {
    const methods = restMethods(url.pathname);
    if (methods === undefined) throw new Refusal('path_not_found', 'Nothing is served at this path.');
    if (!methods.includes(req.method ?? '')) throw new NotThisMethod(methods);
    const target = {namespace: url.searchParams.get('namespace') ?? undefined, groups: null, channel: 'api'} as const;
    const connection = await openConnection(parts, {req, res}, target);
    slot.claim(connection.caller, connection.namespace);
    await serveRest(parts.rest, {req, res, url, connection});
  },
};

const RUNNER: Front = {
  name: 'runner',
  say: sayProblem,
  serve: (parts, {req, res, url}) => parts.runnerApi(req, res, url),
};

const OTHER: Front = {
  name: 'other',
  say: sayProblem,
  serve: async () => {
    throw new Refusal('path_not_found', 'Nothing is served at this path; there are /mcp, /api/v1 and /runner/v1.');
  },
};

/** The path takes other methods; `Allow` lists them. */
class NotThisMethod extends Refusal {
  readonly allow: readonly string[];

  constructor(allow: readonly string[]) {
    super('method_not_allowed', `This path takes ${allow.join(', ')} only.`);
    this.allow = allow;
  }
}

function frontOf(path: string): Front {
  if (path === '/mcp' || path.startsWith('/mcp/')) return MCP;
  if (path.startsWith('/api/v1/')) return API;
  return path.startsWith('/runner/v1/') ? RUNNER : OTHER;
}

function fail(
  log: Log,
  say: SayRefusal,
  {req, res}: {req: IncomingMessage; res: ServerResponse},
  error: unknown,
): void {
  const refusal =
    error instanceof Refusal ? error : new Refusal('internal', 'The gateway failed; its log has the details.');
  if (refusal !== error && !req.destroyed) log.error({error, path: urlOf(req)?.pathname}, 'request failed');
  const allow = refusal instanceof NotThisMethod ? {allow: refusal.allow.join(', ')} : {};
  // A body that was refused unread is not read to its end: the connection closes instead.
  say(res, refusal, req.complete ? allow : {...allow, connection: 'close'});
  if (res.headersSent && !res.writableEnded) res.destroy();
}

function urlOf(req: IncomingMessage): URL | undefined {
  const target = req.url ?? '';
  if (!target.startsWith('/') || target.startsWith('//')) return undefined;
  return URL.parse(target, 'http://gateway') ?? undefined;
}
