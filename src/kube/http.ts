import * as http from 'node:http';
import * as https from 'node:https';
import type {Connection} from './connection.ts';

/** One request to the API server. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path with query. */
  readonly path: string;
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Limit until the whole reply is in (for streams: until the headers are in). */
  readonly timeoutMs: number;
  /** Read token and CA from their files first. */
  readonly freshCredentials?: boolean;
}

/** A complete reply. */
export interface HttpReply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** No complete reply: `sent` false means that the request never reached the server. */
export class NoReply extends Error {
  override readonly name = 'NoReply';
  readonly sent: boolean;
  readonly aborted: boolean;

  constructor(message: string, facts: {sent: boolean; aborted: boolean; cause?: unknown}) {
    super(message, {cause: facts.cause});
    this.sent = facts.sent;
    this.aborted = facts.aborted;
  }
}

// Probed after so long without a byte, and given up 10 s later: a path that drops all it gets says nothing, and a watch may be
// quiet for a minute.
const PROBE_MS = 10_000;

// A page of 500 objects at the largest size that etcd takes would be more; nothing of ours comes near.
const MAX_REPLY_BYTES = 256 * 1024 * 1024;

/** Send a request and read the whole reply. Rejects with NoReply only. */
export async function exchange(connection: Connection, request: HttpRequest): Promise<HttpReply> {
  const call = startCall(connection, request, connection.calls);
  try {
    const response = await call.response;
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response) {
      size += chunk.length;
      if (size > MAX_REPLY_BYTES) throw new Error(`reply is larger than ${MAX_REPLY_BYTES} bytes`);
      chunks.push(chunk);
    }
    return {status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString('utf8')};
  } catch (error) {
    throw call.failure(error);
  } finally {
    call.settle();
  }
}

/** Open a streaming reply: resolves at the headers; the caller reads and destroys it. Rejects with NoReply only. */
export async function openStream(connection: Connection, request: HttpRequest): Promise<http.IncomingMessage> {
  const call = startCall(connection, request, connection.watches);
  try {
    const response = await call.response;
    response.socket.setKeepAlive(true, PROBE_MS);
    return response;
  } catch (error) {
    throw call.failure(error);
  } finally {
    call.settle();
  }
}

interface Call {
  readonly response: Promise<http.IncomingMessage>;
  failure(error: unknown): NoReply;
  /** Stop the time limit. */
  settle(): void;
}

function startCall(connection: Connection, request: HttpRequest, agent: http.Agent): Call {
  let sent = false;
  let timedOut = false;
  let outgoing: http.ClientRequest | undefined;
  const response = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.signal?.throwIfAborted();
    const {protocol} = connection.server;
    const options = requestOptions(connection, request, agent);
    outgoing = protocol === 'https:' ? https.request(options) : http.request(options);
    outgoing.once('socket', (socket) => {
      if (!socket.connecting) sent = true;
      else socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => (sent = true));
    });
    outgoing.once('response', resolve);
    outgoing.on('error', reject);
    outgoing.end(request.body);
  });
  const timer = setTimeout(() => {
    timedOut = true;
    outgoing?.destroy(new Error(`no reply within ${request.timeoutMs} ms`));
  }, request.timeoutMs);
  return {
    response,
    settle: () => clearTimeout(timer),
    failure(error) {
      const aborted = request.signal?.aborted === true && !timedOut;
      if (!aborted) connection.trouble();
      outgoing?.destroy();
      return new NoReply(error instanceof Error ? error.message : 'connection failed', {sent, aborted, cause: error});
    },
  };
}

function requestOptions(connection: Connection, request: HttpRequest, agent: http.Agent): https.RequestOptions {
  const {ca, cert, key, token} = connection.credentials(request.freshCredentials ?? false);
  const {hostname, port, pathname} = connection.server;
  return {
    agent,
    method: request.method,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port || undefined,
    path: pathname.replace(/\/$/, '') + request.path,
    headers: {
      accept: 'application/json',
      'user-agent': 'carrel',
      ...(token === undefined ? {} : {authorization: `Bearer ${token}`}),
      ...(request.body === undefined
        ? {}
        : {
            'content-type': request.contentType ?? 'application/json',
            'content-length': Buffer.byteLength(request.body),
          }),
    },
    ...(ca === undefined ? {} : {ca}),
    ...(cert === undefined ? {} : {cert}),
    ...(key === undefined ? {} : {key}),
    ...(request.signal === undefined ? {} : {signal: request.signal}),
  };
}
