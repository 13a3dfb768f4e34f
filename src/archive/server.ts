import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import {z} from 'zod';
import {AUDIENCE} from '../api/meta.ts';
import {Append, type ArchiveProblem} from '../api/wire/archive.ts';
import {BodyTooLarge, parseJson, readBody} from '../http/body.ts';
import {bearerOf, sendJson} from '../http/reply.ts';
import {StoreFull, type TranscriptStore} from './store.ts';

/** What the archive's server is made of. */
export interface ArchiveServerParts {
  readonly store: TranscriptStore;
  /** User names that may call, `system:serviceaccount:<namespace>:<name>`. */
  readonly callers: readonly string[];
  /** Undefined: the token is refused. Throws when no verdict could be made. */
  readonly reviewToken: (token: string, audience: string) => Promise<{readonly username: string} | undefined>;
  readonly log: {warn(fields: object, message: string): void; error(fields: object, message: string): void};
  readonly metrics: {
    stored(records: number): void;
    gap(): void;
    full(): void;
    answered(route: string, status: number): void;
  };
  /** Requests worked on at once; more are told to come back. Default 64. */
  readonly maxInFlight?: number;
}

/** Largest body of an append. */
export const MAX_APPEND_BYTES = 8 * 1024 * 1024;

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The archive's HTTP server, `src/api/wire/archive.ts`; the caller listens and closes. */
export function createArchiveServer(parts: ArchiveServerParts): Server {
  let inFlight = 0;
  const limits = {requestTimeout: 60_000, headersTimeout: 10_000, keepAliveTimeout: 65_000, maxHeaderSize: 16_384};
  return createServer(limits, async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://archive');
    if (inFlight >= (parts.maxInFlight ?? 64)) return finish(parts, url, {request, response}, busy());
    inFlight += 1;
    try {
      await finish(parts, url, {request, response}, await answerTo(parts, request, url));
    } finally {
      inFlight -= 1;
    }
  });
}

function finish(
  parts: ArchiveServerParts,
  url: URL,
  {request, response}: {request: IncomingMessage; response: ServerResponse},
  answer: Answer,
): void {
  // An unread body would be taken for the next request on this connection.
  const cut = request.complete ? {} : {connection: 'close'};
  sendJson(response, answer.status, answer.body, {...answer.headers, ...cut});
  parts.metrics.answered(url.pathname.endsWith('/append') ? 'append' : 'read', answer.status);
}

async function answerTo(parts: ArchiveServerParts, request: IncomingMessage, url: URL): Promise<Answer> {
  try {
    return (await refuseCaller(parts, request)) ?? (await route(parts, request, url));
  } catch (error) {
    if (error instanceof BodyTooLarge) return problem(413, {code: 'too_large', message: `${error.message}; send less`});
    if (error instanceof StoreFull) return full(parts, error);
    parts.log.error({path: url.pathname, error: error instanceof Error ? error.message : 'unknown'}, 'request failed');
    return problem(503, {code: 'storage', message: 'the archive could not do it now; try again'}, 1);
  }
}

function full(parts: ArchiveServerParts, error: StoreFull): Answer {
  parts.log.error({error: error.message}, 'nothing more can be stored');
  parts.metrics.full();
  return problem(507, {code: 'full', message: error.message}, 30);
}

async function refuseCaller(parts: ArchiveServerParts, request: IncomingMessage): Promise<Answer | undefined> {
  const token = bearerOf(request);
  const refused = (message: string) => problem(401, {code: 'refused', message});
  if (token === undefined) return refused(`send one Authorization: Bearer token of audience ${AUDIENCE.archive}`);
  try {
    const caller = await parts.reviewToken(token, AUDIENCE.archive);
    if (caller === undefined) return refused(`the token is not accepted for audience ${AUDIENCE.archive}`);
    if (parts.callers.includes(caller.username)) return undefined;
    parts.log.warn({caller: caller.username}, 'caller is not allowed');
    return problem(403, {code: 'refused', message: `${caller.username} may not call the archive`});
  } catch (error) {
    parts.log.warn({error: error instanceof Error ? error.message : 'unknown'}, 'token review failed');
    return problem(503, {code: 'no_verdict', message: 'the token could not be reviewed now; try again'}, 1);
  }
}

async function route(parts: ArchiveServerParts, request: IncomingMessage, url: URL): Promise<Answer> {
  if (request.method === 'POST' && url.pathname === '/archive/v1/append') return append(parts, request);
  const [, namespace, sessionUid, what] =
    /^\/archive\/v1\/sessions\/([^/]+)\/([^/]+)\/(records|tail)$/.exec(url.pathname) ?? [];
  if (request.method === 'GET' && namespace !== undefined && sessionUid !== undefined) {
    const session = {namespace: decodeURIComponent(namespace), sessionUid: decodeURIComponent(sessionUid)};
    return what === 'tail' ? tail(parts, url, session) : records(parts, url, session);
  }
  return problem(404, {code: 'invalid', message: `there is no ${request.method} ${url.pathname}`});
}

async function append(parts: ArchiveServerParts, request: IncomingMessage): Promise<Answer> {
  const batch = Append.safeParse(parseJson(await readBody(request, MAX_APPEND_BYTES)));
  if (!batch.success) return problem(400, {code: 'invalid', message: z.prettifyError(batch.error).slice(0, 1_000)});
  const result = await parts.store.append(batch.data);
  if (result.kind === 'gap') {
    parts.metrics.gap();
    const message = `records after ${result.acked} are missing; send from ${result.acked + 1}`;
    return problem(409, {code: 'gap', message, acked: result.acked});
  }
  parts.metrics.stored(result.stored);
  return {status: 200, body: {acked: result.acked}};
}

const RecordsQuery = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
  turn: z.string().max(64).optional(),
});
const TailQuery = z.object({bytes: z.coerce.number().int().min(1).max(4_194_304).default(65_536)});

interface SessionKey {
  readonly namespace: string;
  readonly sessionUid: string;
}

async function records(parts: ArchiveServerParts, url: URL, session: SessionKey): Promise<Answer> {
  const query = RecordsQuery.safeParse(Object.fromEntries(url.searchParams));
  if (!query.success) return problem(400, {code: 'invalid', message: z.prettifyError(query.error)});
  const {after, limit, turn} = query.data;
  return {status: 200, body: await parts.store.read({...session, after, limit, turnUid: turn})};
}

async function tail(parts: ArchiveServerParts, url: URL, session: SessionKey): Promise<Answer> {
  const query = TailQuery.safeParse(Object.fromEntries(url.searchParams));
  if (!query.success) return problem(400, {code: 'invalid', message: z.prettifyError(query.error)});
  return {status: 200, body: await parts.store.tail({...session, bytes: query.data.bytes})};
}

function busy(): Answer {
  return problem(503, {code: 'busy', message: 'too many requests at once; try again'}, 1);
}

function problem(status: number, body: ArchiveProblem, retryAfter?: number): Answer {
  return {status, body, ...(retryAfter === undefined ? {} : {headers: {'retry-after': String(retryAfter)}})};
}
