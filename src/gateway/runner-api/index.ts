import type {IncomingMessage, ServerResponse} from 'node:http';
import {z} from 'zod';
import {AUDIENCE} from '../../api/meta.ts';
import {EventBatch} from '../../api/wire/runner.ts';
import {type Archive, ArchiveError} from '../../domain/archive.ts';
import {BodyTooLarge, parseJson, readBody} from '../../http/body.ts';
import {bearerOf, sendJson} from '../../http/reply.ts';
import type {Clock} from '../../kube/clock.ts';
import {isApiError} from '../../kube/errors.ts';
import type {Client, Log} from '../../kube/ports.ts';
import type {ReviewToken} from '../../kube/token-review.ts';
import {type Bound, bind, podOf, type Unbound} from '../auth/binding.ts';
import type {GatewayCaches} from '../caches.ts';
import {type ArchiveTroubles, archiveTroubles} from './archive-trouble.ts';
import {contextOf} from './context.ts';
import {takeBatch} from './events.ts';
import {createStreams, hearsNothing} from './streams.ts';

/** What the runner API is made of. */
export interface RunnerApiParts {
  readonly client: Client;
  readonly caches: Pick<GatewayCaches, 'sessions' | 'turns' | 'questions'>;
  readonly reviewToken: ReviewToken;
  readonly archive: Archive;
  readonly log: Log;
  readonly clock: Clock;
  /** Counts events by type, and by why they were dropped. */
  readonly count?: (event: string, dropped?: string) => void;
}

/** Serves everything below `/runner/v1/`. */
export interface RunnerApi {
  (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void>;
  /** For the end of the process: ends the open streams one by one over this time, and each new one at once. */
  drain(overMs: number): Promise<void>;
  /** Open streams. */
  streams(): number;
}

/** Bytes of one batch. As records it must fit into one append of the archive, which takes 8 MiB. */
const MAX_BATCH_BYTES = 7 * 1024 * 1024;

interface Answer {
  readonly status: number;
  readonly body: object;
}

/** The API that runners call; `src/api/wire/runner.ts` says how. */
export function createRunnerApi(parts: RunnerApiParts): RunnerApi {
  const streams = createStreams(parts);
  const troubles = archiveTroubles(parts);
  const lanes = new Map<string, Promise<unknown>>();
  const answer = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<Answer | undefined> => {
    const route = `${request.method} ${url.pathname}`;
    if (!ROUTES.includes(route))
      return problem(404, 'not_found', `there is no ${route}; there are ${ROUTES.join(', ')}`);
    const bound = await boundOf(parts, request);
    if (typeof bound === 'string') return REFUSALS[bound];
    if (route === DESIRED) return hearsNothing(parts.caches) ? REFUSALS.no_verdict : void streams.open(bound, response);
    if (route === CONTEXT) return {status: 200, body: await contextOf(parts.archive, bound)};
    const batch = EventBatch.safeParse(parseJson(await readBody(request, MAX_BATCH_BYTES)));
    if (!batch.success) return problem(400, 'invalid', z.prettifyError(batch.error).slice(0, 1_000));
    if (batch.data.podUid !== bound.pod.uid) return problem(400, 'invalid', 'podUid is not the pod of the token');
    return {
      status: 200,
      body: await inLane(lanes, bound.pod.uid, () => takeEvents({...parts, troubles}, bound, batch.data)),
    };
  };
  const handle = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    const result = await answer(request, response, url).catch((error: unknown) => failure(parts.log, error));
    if (result === undefined) return;
    const close = request.complete ? {} : {connection: 'close'};
    sendJson(response, result.status, result.body, {...close, ...(result.status === 503 ? {'retry-after': '1'} : {})});
  };
  return Object.assign(handle, {drain: streams.drain, streams: streams.size});
}

const DESIRED = 'GET /runner/v1/desired';
const CONTEXT = 'GET /runner/v1/context';
const ROUTES = [DESIRED, 'POST /runner/v1/events', CONTEXT];

const REFUSALS: Readonly<Record<Unbound, Answer>> = {
  refused: problem(401, 'unauthorized', `send one Bearer token of audience ${AUDIENCE.runner} that is bound to a pod`),
  no_verdict: problem(503, 'no_verdict', 'pod and session could not be checked now; try again'),
  early: problem(425, 'too_early', 'the session does not name this pod yet; try again'),
  fenced: problem(410, 'fenced', 'this pod is not the pod of its session any more; stop'),
};

async function boundOf(parts: RunnerApiParts, request: IncomingMessage): Promise<Bound | Unbound> {
  const token = bearerOf(request);
  if (token === undefined) return 'refused';
  const pod = await podOf(parts, token, AUDIENCE.runner);
  return typeof pod === 'string' ? pod : bind({client: parts.client, sessions: parts.caches.sessions}, pod);
}

async function takeEvents(
  parts: RunnerApiParts & {troubles: ArchiveTroubles},
  bound: Bound,
  batch: EventBatch,
): Promise<object> {
  const {client, archive, troubles, log, caches} = parts;
  const count = parts.count ?? (() => undefined);
  return takeBatch(
    {client, archive, troubles, log, count, turns: caches.turns, questions: caches.questions},
    bound,
    batch,
    new Date(parts.clock.now()),
  );
}

// Batches of one pod one after the other: a repetition must not overtake the try that it repeats.
function inLane<T>(lanes: Map<string, Promise<unknown>>, lane: string, work: () => Promise<T>): Promise<T> {
  const result = (lanes.get(lane) ?? Promise.resolve()).then(work, work);
  lanes.set(lane, result);
  const leave = () => {
    if (lanes.get(lane) === result) lanes.delete(lane);
  };
  result.then(leave, leave);
  return result;
}

function failure(log: Log, error: unknown): Answer {
  if (error instanceof BodyTooLarge) return problem(413, 'too_large', `${error.message}; send fewer events at once`);
  if (error instanceof ArchiveError && error.kind === 'Gap') {
    const acked = error.acked ?? 0;
    return {
      status: 409,
      body: {code: 'gap', message: `events after ${acked} are missing; send from ${acked + 1}`, acked},
    };
  }
  // For good: sent again, the same records would be refused again.
  if (error instanceof ArchiveError && error.kind === 'Refused') return problem(422, 'archive_refused', error.message);
  const kind = error instanceof ArchiveError || isApiError(error) ? error.kind : 'Other';
  log.warn({kind, error: error instanceof Error ? error.message : 'unknown'}, 'runner request failed');
  const code = error instanceof ArchiveError ? 'archive_unavailable' : 'cluster_unavailable';
  return problem(503, code, 'it could not be stored now; send it again');
}

function problem(status: number, code: string, message: string): Answer {
  return {status, body: {code, message}};
}
