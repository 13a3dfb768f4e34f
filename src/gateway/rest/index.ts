import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Archive} from '../../domain/archive.ts';
import {Refusal} from '../../domain/refusal.ts';
import {sendJson} from '../../http/reply.ts';
import type {Calls, Connection} from '../call.ts';
import {readJson} from '../http/body.ts';
import {sendTranscript} from './transcript.ts';

/** One request of the REST API, its caller identified. */
export interface RestRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly url: URL;
  readonly connection: Connection;
}

/** What the REST API needs. */
export interface RestParts {
  readonly calls: Calls;
  readonly archive: Pick<Archive, 'read'>;
}

type Handler = (parts: RestParts, request: RestRequest, name: string) => Promise<void>;

interface Route {
  readonly path: RegExp;
  readonly methods: Readonly<Record<string, Handler>>;
  /** Query parameters that GET takes beside `namespace`, which all take. */
  readonly query?: readonly string[];
}

const SEARCH = ['query', 'phase', 'agent'] as const;

const NAME = '([a-z0-9][-a-z0-9.]{0,62})';

// REST is the tools in another form: the same call path, so the same checks, the same audit line.
const ROUTES: readonly Route[] = [
  {
    path: /^\/api\/v1\/sessions\/?$/,
    query: [...SEARCH, 'limit'],
    methods: {
      GET: async (parts, request) =>
        sendJson(
          request.res,
          200,
          await toolData(parts, request, 'quick_search_sessions', searchArguments(request.url)),
        ),
      POST: async (parts, request) => {
        const data = await toolData(parts, request, 'start_session', await readJson(request.req));
        sendJson(request.res, isReplay(data) ? 200 : 201, data);
      },
    },
  },
  {
    path: new RegExp(`^/api/v1/sessions/${NAME}$`),
    methods: {
      GET: async (parts, request, name) => {
        const args = {session_id: name, include_turns: true, include_questions: true};
        sendJson(request.res, 200, await toolData(parts, request, 'get_session', args));
      },
    },
  },
  {
    path: new RegExp(`^/api/v1/sessions/${NAME}/transcript$`),
    query: ['after', 'limit', 'turn'],
    methods: {GET: sendTranscript},
  },
  {
    path: new RegExp(`^/api/v1/sessions/${NAME}/turns$`),
    methods: {
      POST: async (parts, request, name) => {
        const body = await readJson(request.req);
        if (typeof body !== 'object' || body === null || Array.isArray(body))
          throw new Refusal('invalid_arguments', 'The body must be a JSON object.');
        const data = await toolData(parts, request, 'action_session', {...body, action: 'follow_up', session_id: name});
        sendJson(request.res, isReplay(data) ? 200 : 201, data);
      },
    },
  },
];

/** Methods of a REST path, or undefined when nothing is served there. */
export function restMethods(path: string): readonly string[] | undefined {
  const route = ROUTES.find((r) => r.path.test(path));
  return route === undefined ? undefined : Object.keys(route.methods);
}

/** Serve a path and method that `restMethods` has named; throws Refusals. */
export async function serveRest(parts: RestParts, request: RestRequest): Promise<void> {
  const route = ROUTES.find((r) => r.path.test(request.url.pathname));
  const name = route?.path.exec(request.url.pathname)?.[1] ?? '';
  const handler = route?.methods[request.req.method ?? ''];
  if (handler === undefined) throw new Refusal('path_not_found', 'Nothing is served at this path.');
  refuseUnknown(request.url, ['namespace', ...(request.req.method === 'GET' ? (route?.query ?? []) : [])]);
  await handler(parts, request, name);
}

/** Call a tool and take its data; a refusal is thrown. */
export async function toolData(
  {calls}: RestParts,
  {connection}: RestRequest,
  tool: string,
  args: unknown,
): Promise<object> {
  const reply = await calls.call(connection, tool, args);
  if (reply.kind === 'done')
    return typeof reply.data === 'object' && reply.data !== null ? reply.data : {value: reply.data};
  if (reply.kind === 'refused') throw reply.refusal;
  // Nobody but a session has a part of the tools only.
  throw (
    reply.refusal ?? new Refusal('forbidden', `This is the tool ${tool}, which the groups of your Agent do not give.`)
  );
}

// Never ignored in silence: a filter with a typing error would show everything.
function refuseUnknown({searchParams}: URL, allowed: readonly string[]): void {
  const unknown = [...new Set(searchParams.keys())].filter((name) => !allowed.includes(name));
  if (unknown.length === 0) return;
  const names = unknown.slice(0, 5).map((name) => JSON.stringify(name.slice(0, 64)));
  throw new Refusal(
    'unsupported_argument',
    `Query parameter ${names.join(', ')}: this takes ${allowed.join(', ')} only.`,
  );
}

function searchArguments(url: URL): Record<string, unknown> {
  const args: Record<string, unknown> = {};
  for (const name of SEARCH) {
    const value = url.searchParams.get(name);
    if (value !== null) args[name] = value;
  }
  const limit = url.searchParams.get('limit');
  if (limit !== null) args['limit'] = Number(limit);
  return args;
}

function isReplay(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'replayed' in data && data.replayed === true;
}
