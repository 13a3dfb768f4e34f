import {Agent, request} from 'node:http';
import type {z} from 'zod';
import {Appended, ArchiveProblem, Page} from '../api/wire/archive.ts';
import {type Archive, ArchiveError} from '../domain/archive.ts';
import {createPatience, type Patience} from './patience.ts';

/** What the client is made of. Gateway and controller use the same one. */
export interface ArchiveClientParts {
  /** `http://<host>:<port>` of the archive. */
  readonly url: string;
  /** The token of audience `carrel-archive`; read anew for every call, because it is rotated. */
  readonly token: () => string;
  /** Limit of one call; default 5 s. */
  readonly timeoutMs?: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** An archive with sockets to give back. */
export interface ArchiveClient extends Archive {
  close(): void;
}

// Pages are 4 MiB and one record more, written as JSON.
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** Connect to the archive process. */
export function createArchiveClient(parts: ArchiveClientParts): ArchiveClient {
  const agent = new Agent({keepAlive: true, maxSockets: 16, maxFreeSockets: 4});
  const patience = createPatience(parts.now ?? (() => performance.now()));
  const call = (wanted: Wanted) => exchange({...parts, agent, patience}, wanted);
  return {
    async append(batch, signal) {
      const body = JSON.stringify(batch);
      return parsed(Appended, await call({method: 'POST', path: '/archive/v1/append', body, signal}));
    },
    async read({namespace, sessionUid, after, limit, turnUid}, signal) {
      const query = new URLSearchParams({after: String(after), limit: String(limit)});
      if (turnUid !== undefined) query.set('turn', turnUid);
      return parsed(
        Page,
        await call({method: 'GET', path: sessionPath(namespace, sessionUid, `records?${query}`), signal}),
      );
    },
    async tail({namespace, sessionUid, bytes}, signal) {
      return parsed(
        Page,
        await call({method: 'GET', path: sessionPath(namespace, sessionUid, `tail?bytes=${bytes}`), signal}),
      );
    },
    close: () => agent.destroy(),
  };
}

interface ExchangeParts extends ArchiveClientParts {
  readonly agent: Agent;
  readonly patience: Patience;
}

interface Wanted {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

function sessionPath(namespace: string, sessionUid: string, rest: string): string {
  return `/archive/v1/sessions/${encodeURIComponent(namespace)}/${encodeURIComponent(sessionUid)}/${rest}`;
}

function parsed<T>(schema: z.ZodType<T>, reply: Reply): T {
  const body = reply.status === 200 ? schema.safeParse(reply.body) : undefined;
  if (body?.success === true) return body.data;
  throw refusal(reply);
}

function refusal({status, body}: Reply): ArchiveError {
  const problem = ArchiveProblem.safeParse(body);
  const message = `archive: ${status} ${problem.success ? problem.data.message : 'unreadable reply'}`;
  if (problem.success && problem.data.code === 'gap' && problem.data.acked !== undefined) {
    return new ArchiveError('Gap', message, {acked: problem.data.acked});
  }
  // 401 may be a token that was just rotated: the next call reads it anew. 403 is about who calls, not about what is sent.
  const final = problem.success && status >= 400 && status < 500 && ![401, 403, 429].includes(status);
  return new ArchiveError(final ? 'Refused' : 'Unavailable', message);
}

function exchange(parts: ExchangeParts, wanted: Wanted): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : 'no reply';
      reject(new ArchiveError('Unavailable', `archive: ${reason}`, {cause}));
    };
    if (!parts.patience.mayAsk()) return fail(new Error('it does not answer; it is asked again in a few seconds'));
    const timeout = AbortSignal.timeout(parts.timeoutMs ?? 5_000);
    const signal = wanted.signal === undefined ? timeout : AbortSignal.any([timeout, wanted.signal]);
    try {
      const headers = {
        authorization: `Bearer ${parts.token()}`,
        ...(wanted.body === undefined
          ? {}
          : {'content-type': 'application/json', 'content-length': Buffer.byteLength(wanted.body)}),
      };
      const url = new URL(wanted.path, parts.url);
      const outgoing = request(url, {agent: parts.agent, method: wanted.method, headers, signal});
      outgoing.on('error', (error) => {
        if (timeout.aborted) parts.patience.silent();
        fail(error);
      });
      outgoing.on('response', (response) => {
        parts.patience.heard();
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > MAX_REPLY_BYTES) response.destroy(new Error(`reply is larger than ${MAX_REPLY_BYTES} bytes`));
          else chunks.push(chunk);
        });
        response.on('error', fail);
        response.on('end', () => resolve({status: response.statusCode ?? 0, body: jsonOf(Buffer.concat(chunks))}));
      });
      outgoing.end(wanted.body);
    } catch (error) {
      fail(error);
    }
  });
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
