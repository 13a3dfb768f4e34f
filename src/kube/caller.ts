import {refusal} from './classify.ts';
import {type Clock, pause} from './clock.ts';
import type {Connection} from './connection.ts';
import {ApiError} from './errors.ts';
import {exchange, type HttpRequest, NoReply} from './http.ts';
import type {CallOptions, KubeMetrics, Log} from './ports.ts';
import {retryDelay} from './retry.ts';
import {tellWarnings} from './warnings.ts';

/** A call with what is needed to judge whether it may be repeated. */
export interface Call extends Pick<HttpRequest, 'method' | 'path' | 'body' | 'contentType'> {
  /** `PATCH sessions.carrel.dev ns/name status`, for errors and logs. */
  readonly name: string;
  readonly resource: string;
  /** True when carrying it out twice is the same as once. */
  readonly repeatable: boolean;
  /** A delete that was repeated and finds nothing has succeeded. */
  readonly goneIsDone?: boolean;
  /** Asked before every attempt, not only the first: false means that this process may not send it now. */
  readonly mayBeSent?: (() => boolean) | undefined;
}

/** What the caller needs. */
export interface CallerParts {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: KubeMetrics | undefined;
  /** Called for each `warning` header; default logs it. */
  readonly onWarning?: ((warning: string, call: string) => void) | undefined;
  /** Limit of one attempt; default 15 s. */
  readonly attemptMs?: number | undefined;
  /** Spread of retries; default Math.random. */
  readonly random?: (() => number) | undefined;
}

/** Makes one call with bounded retries and resolves to the parsed body; rejects with ApiError only. */
export type Caller = (call: Call, options?: CallOptions) => Promise<unknown>;

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_ATTEMPT_MS = 15_000;

/** Build the one path through which all short calls go: time limits, retries, warnings, metrics. */
export function createCaller(parts: CallerParts): Caller {
  const {connection, clock} = parts;
  const random = parts.random ?? Math.random;
  return async (call, options = {}) => {
    const started = clock.monotonic();
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    let unauthorized = false;
    let maybeDone = false;
    let last: ApiError | undefined;
    for (let attempts = 1; ; attempts++) {
      // What may have been carried out already is told as such: "not sent" would be wrong.
      if (call.mayBeSent?.() === false) throw maybeDone && last !== undefined ? last : notLeader(call.name);
      const left = timeoutMs - (clock.monotonic() - started);
      const attempt = await tryOnce(parts, call, {left, signal: options.signal, fresh: unauthorized});
      const gone = maybeDone && call.goneIsDone === true && attempt.error?.kind === 'NotFound';
      report(parts, call, attempt, {attempts, seconds: (clock.monotonic() - started) / 1_000});
      if (attempt.error === undefined || gone) return attempt.body;
      last = attempt.error;
      unauthorized = last.kind === 'Unauthorized';
      maybeDone ||= attempt.sent;
      const delay = retryDelay(
        {
          error: last,
          attempts,
          repeatable: call.repeatable,
          sent: attempt.sent,
          sinceTroubleMs: connection.sinceTrouble(),
        },
        random(),
      );
      const tooLate = (moreMs: number) => clock.monotonic() - started + moreMs >= timeoutMs;
      if (delay === undefined || tooLate(delay)) throw last;
      await pause(clock, delay, options.signal);
      // Asked again: the pause of a process that was frozen may have taken minutes.
      if (options.signal?.aborted === true || tooLate(0)) throw last;
    }
  };
}

interface Attempt {
  readonly body?: unknown;
  readonly error?: ApiError;
  readonly sent: boolean;
}

async function tryOnce(
  parts: CallerParts,
  call: Call,
  limits: {left: number; signal: AbortSignal | undefined; fresh: boolean},
): Promise<Attempt> {
  try {
    const reply = await exchange(parts.connection, {
      method: call.method,
      path: call.path,
      body: call.body,
      contentType: call.contentType,
      signal: limits.signal,
      timeoutMs: Math.max(1, Math.min(limits.left, parts.attemptMs ?? DEFAULT_ATTEMPT_MS)),
      freshCredentials: limits.fresh,
    });
    tellWarnings(parts, call.name, reply.headers);
    if (reply.status >= 200 && reply.status < 300) return {body: JSON.parse(reply.text), sent: true};
    return {error: refusal(reply, call.name), sent: true};
  } catch (error) {
    return {error: unanswered(error, call), sent: !(error instanceof NoReply) || error.sent};
  }
}

function notLeader(request: string): ApiError {
  const message = 'not sent: this process does not hold the lease';
  return new ApiError({kind: 'NotLeader', status: 0, reason: '', message, causes: [], request});
}

function unanswered(error: unknown, call: Call): ApiError {
  const aborted = error instanceof NoReply && error.aborted;
  return new ApiError(
    {
      kind: aborted ? 'Aborted' : 'Unavailable',
      status: 0,
      reason: '',
      message: error instanceof Error ? error.message : 'no reply',
      causes: [],
      request: call.name,
    },
    {cause: error},
  );
}

function report(parts: CallerParts, call: Call, attempt: Attempt, facts: {attempts: number; seconds: number}): void {
  const status = attempt.error === undefined ? 200 : attempt.error.status;
  parts.metrics?.request({
    verb: call.method,
    resource: call.resource,
    status,
    seconds: facts.seconds,
    retries: facts.attempts - 1,
  });
  if (attempt.error !== undefined) {
    parts.log.debug({call: call.name, kind: attempt.error.kind, status, attempts: facts.attempts}, 'api call refused');
  }
}
