import {request as httpRequest, type IncomingMessage, type ServerResponse} from 'node:http';
import {Transform} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import type {TLSSocket} from 'node:tls';
import type {Dialect, ModelCall} from '../../domain/model/dialect.ts';
import {type Failure, readFailure} from '../../domain/model/failure.ts';
import {keyHeader, returnedHeaders, upstreamHeaders} from '../../domain/model/header.ts';
import {Redactor, redactText} from '../../domain/model/redact.ts';
import {type Upstream, upstreamPath} from '../../domain/model/url.ts';
import {ReplyMeter, type Usage} from '../../domain/model/usage.ts';
import type {ModelSecret} from './model-secret.ts';
import type {LoopbackOptions} from './ports.ts';
import {authority, openTls, openTunnel, RelayError} from './relay.ts';

/** Milliseconds without a byte from the provider: reasoning models think for minutes before the first one. */
const IDLE_TIMEOUT = 600_000;
/** Bytes of a reply that are passed on; far above any answer. */
const MAX_REPLY = 64 << 20;
/** Bytes of an error reply that are kept to say what went wrong. */
const MAX_ERROR = 64 << 10;

/** The provider gave no answer; the message holds no key. */
export class ModelCallFailed extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** One call, ready to be sent. */
export interface Outgoing {
  options: LoopbackOptions;
  dialect: Dialect;
  upstream: Upstream;
  secret: ModelSecret;
  call: ModelCall;
  body: Buffer;
  request: IncomingMessage;
  response: ServerResponse;
}

/** How a call ended. A client that went away is no failure. */
export interface Ended {
  usage: Usage;
  failure: Failure | undefined;
}

/** Sends a call through the relay and passes the reply on while it comes; throws `ModelCallFailed` before the first byte. */
export async function sendModelCall(out: Outgoing): Promise<Ended> {
  const gone = new AbortController();
  out.response.once('close', () => gone.abort());
  try {
    const socket = await connect(out);
    // One connection for each call: a pooled one may be dead, and a model call must not be sent twice.
    const reply = await exchange(out, socket, gone.signal);
    return await passOn(out, reply);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
    return {usage: {inputTokens: 0, outputTokens: 0}, failure: undefined};
  }
}

async function connect({options, upstream, secret}: Outgoing): Promise<TLSSocket> {
  try {
    const tunnel = await openTunnel(options, 'model', authority(upstream.host, upstream.port));
    return await openTls(tunnel, upstream.host, secret.trusted());
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    throw new ModelCallFailed('model_unreachable', redactText(secret.key, error.message));
  }
}

async function exchange(out: Outgoing, socket: TLSSocket, signal: AbortSignal): Promise<IncomingMessage> {
  const {dialect, upstream, secret, call, body, request} = out;
  const headers = upstreamHeaders(dialect, request.headers, body.length > 0);
  if (secret.key !== '') {
    const [name, value] = keyHeader(dialect, secret.key);
    headers[name] = value;
  }
  return await new Promise((resolve, reject) => {
    const sent = httpRequest({
      // It speaks TLS already, and only with the provider.
      createConnection: () => socket,
      host: upstream.host,
      port: upstream.port,
      method: request.method,
      path: upstreamPath(dialect, upstream, call),
      headers: {...headers, host: new URL(upstream.origin).host, 'content-length': body.length, connection: 'close'},
      signal,
    });
    sent.setTimeout(IDLE_TIMEOUT, () => sent.destroy(new Error(`silent for ${IDLE_TIMEOUT / 1000} s`)));
    sent.on('response', resolve);
    sent.on('error', (error) => {
      socket.destroy();
      const said = redactText(secret.key, error.message);
      reject(new ModelCallFailed('model_unreachable', `the provider gave no answer: ${said}`));
    });
    sent.end(body);
  });
}

async function passOn(out: Outgoing, reply: IncomingMessage): Promise<Ended> {
  const status = reply.statusCode ?? 502;
  if (status < 200 || (status >= 300 && status < 400)) {
    reply.destroy();
    throw new ModelCallFailed('redirect_refused', `the provider answered ${status}; redirects are not followed`);
  }
  if (!/^(identity)?$/.test(reply.headers['content-encoding'] ?? '')) {
    reply.destroy();
    throw new ModelCallFailed('encoding_refused', 'the provider compressed its reply although it was asked not to');
  }
  const {secret, response, dialect} = out;
  const meter = new ReplyMeter(dialect, reply.headers['content-type']);
  const errorText: Buffer[] = [];
  const watch = (bytes: Buffer) => {
    if (status < 400) meter.push(bytes);
    else if (Buffer.concat(errorText).length < MAX_ERROR) errorText.push(bytes);
  };
  for (const [name, value] of Object.entries(returnedHeaders(reply.headers))) {
    response.setHeader(name, redactText(secret.key, value));
  }
  response.writeHead(status, {'cache-control': 'no-store'});
  const cut = await stream(reply, response, redacting(secret.key, watch));
  const {usage, failure} = meter.end();
  if (status >= 400) return {usage, failure: readFailure(status, Buffer.concat(errorText).toString('utf8'))};
  return {usage, failure: failure ?? cut};
}

/** A stream that takes the key out, and shows what is left to `watch`: nothing behind it ever sees the key. */
function redacting(key: string, watch: (bytes: Buffer) => void): Transform {
  const redactor = new Redactor(key);
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > MAX_REPLY) return done(new Error(`the reply is longer than ${MAX_REPLY} bytes`));
      const safe = redactor.push(chunk);
      watch(safe);
      done(null, safe);
    },
    flush(done) {
      const safe = redactor.end();
      watch(safe);
      done(null, safe);
    },
  });
}

/** Resolves to a failure if the provider cut the reply; to nothing if it ended, or if the agent went away. */
async function stream(
  reply: IncomingMessage,
  response: ServerResponse,
  middle: Transform,
): Promise<Failure | undefined> {
  let hungUp = false;
  // Before the listener that aborts the call: after it the reply is broken in both cases.
  response.prependOnceListener('close', () => {
    hungUp = !response.writableFinished && !reply.errored && !middle.errored;
  });
  try {
    await pipeline(reply, middle, response);
    return undefined;
  } catch (error) {
    if (hungUp) return undefined;
    const why = error instanceof Error ? error.message : 'unknown';
    return {status: 200, code: 'reply_cut', message: `the reply of the provider was cut: ${why}`};
  }
}
