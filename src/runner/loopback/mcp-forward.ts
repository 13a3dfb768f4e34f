import {type IncomingMessage, request, type ServerResponse} from 'node:http';
import {setTimeout as delay} from 'node:timers/promises';
import {z} from 'zod';
import {EFFECT_HEADER, MAX_MCP_MESSAGE, NO_EFFECT} from '../../api/wire/mcp.ts';
import {parseJson} from '../../domain/model/failure.ts';
import {bearer, type Headers} from '../../domain/model/header.ts';
import {BodyTooLarge, readBody} from '../../http/body.ts';
import {answerOrCut} from './answer-or-cut.ts';
import {refuseKey} from './guard.ts';
import type {LoopbackOptions} from './ports.ts';

/** All bodies in memory together: the runner lives in a small container, and calls may wait for minutes. */
const MAX_BUFFERED = 16 << 20;
/** Milliseconds without a byte from the gateway; its longest blocking call is 50 s. */
const IDLE_TIMEOUT = 120_000;
/** Milliseconds before each further try. */
const RETRIES = [50, 100, 200, 400, 800];

/** Methods without an effect: they may be sent again even if the first one reached a gateway that then died. */
const SAFE =
  /^(initialize|ping|server\/discover|(tools|prompts|resources|resources\/templates)\/list|notifications\/.+)$/;

const Message = z.object({id: z.union([z.string(), z.number()]).optional(), method: z.string().optional()});

/** The protocol's own headers, each in the only form that is passed on. */
const PASSED: Readonly<Record<string, RegExp>> = {
  'mcp-protocol-version': /^[0-9A-Za-z.-]{1,32}$/,
  'mcp-method': /^[A-Za-z/_-]{1,64}$/,
  'mcp-name': /^[\x21-\x7e]{1,256}$/,
};

/** The gateway did not answer. `sent`: it may have got the request all the same. */
class GatewayUnreachable extends Error {
  readonly sent: boolean;

  constructor(message: string, sent: boolean) {
    super(message);
    this.sent = sent;
  }
}

/** Passes MCP calls of the agent on to the gateway with the session's own token. */
export class McpForward {
  private readonly options: LoopbackOptions;
  private readonly onListed: () => void;
  private buffered = 0;

  constructor(options: LoopbackOptions, onListed: () => void) {
    this.options = options;
    this.onListed = onListed;
  }

  /** Answers one request for `/mcp` whose form was checked. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const wrong = refuseKey(bearer(request.headers.authorization), this.options.key);
    if (wrong) return answerOrCut(response, wrong.status, rpcError(null, wrong.message));
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST');
      return answerOrCut(response, 405, rpcError(null, 'this endpoint is stateless: use POST'));
    }
    const reserved = Math.min(Number(request.headers['content-length'] ?? MAX_MCP_MESSAGE), MAX_MCP_MESSAGE);
    if (this.buffered + reserved > MAX_BUFFERED) {
      return answerOrCut(response, 429, rpcError(null, 'too many large requests at once: try again'));
    }
    this.buffered += reserved;
    try {
      await this.serve(request, response);
    } finally {
      this.buffered -= reserved;
    }
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body: Buffer;
    try {
      body = await readBody(request, MAX_MCP_MESSAGE);
    } catch (error) {
      if (!(error instanceof BodyTooLarge)) throw error;
      return answerOrCut(response, 413, rpcError(null, `the body may hold at most ${MAX_MCP_MESSAGE} bytes`));
    }
    // What is no single message goes on as it is: the gateway refuses it in its own words.
    const message = Message.safeParse(parseJson(body.toString('utf8'))).data ?? {};
    await this.forward({body, message, headers: request.headers, response});
  }

  private async forward(call: Call): Promise<void> {
    const gone = new AbortController();
    call.response.once('close', () => gone.abort());
    const {id, method} = call.message;
    try {
      const reply = await this.sendWithRetries(call, gone.signal);
      const status = reply.statusCode ?? 502;
      if (status === 401) {
        reply.resume();
        // Passed on, a 401 would send clients looking for an OAuth server.
        return answerOrCut(
          call.response,
          200,
          rpcError(id ?? null, 'the platform refuses this session; it may be ending'),
        );
      }
      if (method === 'tools/list' && status < 300) this.onListed();
      const type = reply.headers['content-type'];
      call.response.writeHead(status, {...(type ? {'content-type': type} : {}), 'cache-control': 'no-store'});
      // Nothing that the agent could tell apart is left to say when the gateway dies inside a reply: cut it.
      reply.once('error', () => call.response.destroy());
      reply.pipe(call.response);
    } catch (error) {
      if (gone.signal.aborted) return;
      if (!(error instanceof GatewayUnreachable)) throw error;
      this.options.log.warn({method, error: error.message}, 'the gateway did not answer an MCP call');
      const advice = error.sent
        ? 'the platform did not answer, and the call may have taken effect: look before you try again, or repeat it with the same idempotency key'
        : 'the platform cannot be reached just now; nothing was done: try again in a few seconds';
      answerOrCut(call.response, id === undefined ? 503 : 200, rpcError(id ?? null, advice));
    }
  }

  private async sendWithRetries(call: Call, signal: AbortSignal): Promise<IncomingMessage> {
    for (let attempt = 0; ; attempt += 1) {
      const wait = RETRIES[attempt];
      try {
        const reply = await this.send(call, signal);
        const safe = SAFE.test(call.message.method ?? '');
        // The gateway itself refused before any tool ran, and another one may be able to.
        const untouched = reply.statusCode === 503 && reply.headers[EFFECT_HEADER] === NO_EFFECT;
        const again = untouched || (safe && [502, 503, 504].includes(reply.statusCode ?? 0));
        if (!again || wait === undefined) return reply;
        reply.resume();
      } catch (error) {
        const unreachable = error instanceof GatewayUnreachable;
        if (!unreachable || wait === undefined) throw error;
        if (error.sent && !SAFE.test(call.message.method ?? '')) throw error;
      }
      await delay(wait, undefined, {signal});
    }
  }

  private async send(call: Call, signal: AbortSignal): Promise<IncomingMessage> {
    const {gateway, tokens} = this.options;
    const token = await tokens.read('mcp');
    const passed = Object.entries(PASSED).flatMap(([name, form]) => {
      const value = call.headers[name];
      return typeof value === 'string' && form.test(value) ? [[name, value]] : [];
    });
    return await new Promise((resolve, reject) => {
      let connected = false;
      const sent = request({
        host: gateway.hostname.replaceAll(/[[\]]/g, ''),
        port: Number(gateway.port || 80),
        path: '/mcp',
        method: 'POST',
        agent: false,
        signal,
        headers: {
          ...Object.fromEntries(passed),
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': call.body.length,
          accept: 'application/json, text/event-stream',
        },
      });
      sent.setTimeout(IDLE_TIMEOUT, () => sent.destroy(new Error(`silent for ${IDLE_TIMEOUT / 1000} s`)));
      sent.on('socket', (socket) => socket.once('connect', () => (connected = true)));
      sent.on('response', resolve);
      sent.on('error', (error) => reject(new GatewayUnreachable(error.message, connected)));
      sent.end(call.body);
    });
  }
}

interface Call {
  body: Buffer;
  message: z.infer<typeof Message>;
  headers: Headers;
  response: ServerResponse;
}

function rpcError(id: string | number | null, message: string): string {
  return JSON.stringify({jsonrpc: '2.0', id, error: {code: -32000, message}});
}
