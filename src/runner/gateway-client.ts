import {readFile} from 'node:fs/promises';
import {Agent, type IncomingMessage, request} from 'node:http';
import path from 'node:path';
import {TOKEN_FILE} from '../api/pod.ts';
import {Acked, Context, DesiredLine, type EventBatch} from '../api/wire/runner.ts';
import {judge, type Verdict} from '../domain/runner/verdict.ts';
import type {Tokens} from './loopback/ports.ts';

/** An answer of the gateway that is not the one asked for. */
export class GatewayRefused extends Error {
  override name = 'GatewayRefused';
  readonly status: number;
  readonly verdict: Verdict;
  /** With 409: the highest number that the archive has; what was stored after it is lost. */
  readonly acked: number | undefined;

  constructor(status: number, verdict: Verdict, text: string) {
    super(`the gateway answered ${status}: ${text.slice(0, 300)}`);
    this.status = status;
    this.verdict = verdict;
    this.acked = status === 409 ? ackedOf(text) : undefined;
  }
}

function ackedOf(text: string): number | undefined {
  try {
    return Acked.safeParse(JSON.parse(text)).data?.acked;
  } catch {
    return undefined;
  }
}

/** Reads projected tokens; the kubelet replaces the files, so each read is anew. */
export function tokenFiles(folder: string): Tokens {
  return {
    read: async (audience) => (await readFile(path.join(folder, TOKEN_FILE[audience]), 'utf8')).trim(),
  };
}

/** Milliseconds. The stream says a ping each 25 s; two may be lost. */
const TIMEOUT = {answer: 20_000, stream: 60_000} as const;
const MAX_BODY = 8_388_608;
const MAX_LINE = 4_194_304;

/** Runner API of the gateway, over plain connections to an address that never is looked up. */
export class GatewayClient {
  private readonly base: URL;
  private readonly tokens: Tokens;
  private readonly agent = new Agent({keepAlive: true, maxSockets: 4});

  constructor(base: URL, tokens: Tokens) {
    this.base = base;
    this.tokens = tokens;
  }

  /** Posts a batch. Throws `GatewayRefused`. */
  async post(batch: EventBatch): Promise<Acked> {
    const answer = await this.open('/runner/v1/events', TIMEOUT.answer, JSON.stringify(batch));
    return Acked.parse(JSON.parse(await readText(answer)));
  }

  /** End of the transcript. */
  async context(): Promise<Context> {
    return Context.parse(JSON.parse(await readText(await this.open('/runner/v1/context', TIMEOUT.answer))));
  }

  /** Lines of the desired stream until it ends; throws when it breaks, is silent, or is refused. */
  async *desired(signal: AbortSignal): AsyncGenerator<DesiredLine> {
    const answer = await this.open('/runner/v1/desired', TIMEOUT.stream, undefined, signal);
    let kept = '';
    answer.setEncoding('utf8');
    for await (const chunk of answer) {
      kept += String(chunk);
      const lines = kept.split('\n');
      kept = lines.pop() ?? '';
      if (kept.length > MAX_LINE) throw new Error('the gateway sent a line without end');
      for (const line of lines) if (line.trim() !== '') yield DesiredLine.parse(JSON.parse(line));
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private async open(target: string, timeout: number, body?: string, signal?: AbortSignal): Promise<IncomingMessage> {
    // Read for this very request: a 401 on it is about the token, not about its age.
    const token = await this.tokens.read('runner');
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request(
        new URL(target, this.base),
        {
          method: body === undefined ? 'GET' : 'POST',
          agent: this.agent,
          timeout,
          headers: {
            authorization: `Bearer ${token}`,
            ...(body === undefined
              ? {}
              : {'content-type': 'application/json', 'content-length': Buffer.byteLength(body)}),
          },
          ...(signal === undefined ? {} : {signal}),
        },
        resolve,
      );
      outgoing.once('timeout', () => outgoing.destroy(new Error(`no word from the gateway for ${timeout} ms`)));
      outgoing.on('error', reject);
      outgoing.end(body);
    });
    const status = answer.statusCode ?? 0;
    const verdict = judge(status, true);
    if (verdict === 'ok') return answer;
    const text = await readText(answer).catch(() => '');
    throw new GatewayRefused(status, verdict, text);
  }
}

async function readText(answer: IncomingMessage): Promise<string> {
  answer.setEncoding('utf8');
  let text = '';
  for await (const chunk of answer) {
    text += String(chunk);
    if (text.length > MAX_BODY) throw new Error('the answer of the gateway is too long');
  }
  return text;
}
