import type {Readable, Writable} from 'node:stream';
import {setTimeout as delay} from 'node:timers/promises';
import {MAX_MCP_MESSAGE} from '../api/wire/mcp.ts';
import {type Line, LineCutter} from './lines.ts';
import {errorLine, type Message, oneLine, readMessage} from './message.ts';
import {type Endpoint, post, type Reply} from './post.ts';

/** Bytes of a line of input that are kept: enough to answer a request that is too large by its id. */
const MAX_LINE = 4 * MAX_MCP_MESSAGE;
/** Messages under way; the input stands while there are so many. */
const MAX_OPEN = 32;
/** Milliseconds that open calls have once the input has ended. */
const LINGER = 2_000;
/** Of JSON-RPC: not JSON; too large; the endpoint did not answer. */
const CODE = {parse: -32_700, invalid: -32_600, unreachable: -32_000} as const;
/** What may stand in a header. */
const PLAIN = /^[\x21-\x7e]{1,256}$/;

/** What the bridge is put between. */
export type BridgeParts = {
  readonly endpoint: Endpoint;
  readonly input: Readable;
  readonly output: Writable;
  /** Diagnosis for people; never a key. */
  readonly say: (text: string) => void;
};

/** MCP over standard input and output for agents that do not speak it over HTTP: one POST to the pod's endpoint for each line. */
export class Bridge {
  private readonly parts: BridgeParts;
  private readonly closing = new AbortController();
  private readonly open = new Set<Promise<void>>();
  private readonly requests = new Map<string, AbortController>();
  private readonly broken: Promise<void>;
  /** Agreed upon in `initialize`; clients of stdio do not repeat it. */
  private version: string | undefined;

  constructor(parts: BridgeParts) {
    this.parts = parts;
    this.broken = new Promise((resolve) => {
      parts.output.once('error', () => resolve());
      parts.output.once('close', () => resolve());
    });
  }

  /** Runs until the input ends, or nobody reads the output any more. */
  async run(): Promise<void> {
    await Promise.race([this.read(), this.broken]);
    await Promise.race([Promise.all(this.open), this.broken, delay(LINGER)]);
    this.closing.abort();
    await Promise.all(this.open);
  }

  private async read(): Promise<void> {
    const cutter = new LineCutter(MAX_LINE);
    for await (const chunk of this.parts.input) {
      for (const line of cutter.push(chunk)) await this.take(line);
    }
    await this.take(cutter.take());
  }

  /** Begins with one line; waits only while too many are under way. */
  private async take(line: Line): Promise<void> {
    if (line?.trim() === '') return;
    const message = line === undefined ? {} : readMessage(line);
    if (message === undefined) return this.write(errorLine(null, CODE.parse, 'a line must be one JSON-RPC message'));
    if (line === undefined || Buffer.byteLength(line) > MAX_MCP_MESSAGE) {
      const limit = `a message may hold at most ${MAX_MCP_MESSAGE} bytes`;
      return this.write(errorLine(message.id ?? null, CODE.invalid, limit));
    }
    if (message.cancels !== undefined) this.requests.get(JSON.stringify(message.cancels))?.abort();
    const work = this.pass(line, message);
    this.open.add(work);
    void work.then(() => this.open.delete(work));
    if (this.open.size >= MAX_OPEN) await Promise.race(this.open);
  }

  private async pass(line: string, message: Message): Promise<void> {
    const {id, method} = message;
    const cancelled = new AbortController();
    const key = JSON.stringify(id);
    if (id !== undefined && method !== undefined) this.requests.set(key, cancelled);
    try {
      const signal = AbortSignal.any([cancelled.signal, this.closing.signal]);
      const reply = await post(this.parts.endpoint, {body: line, headers: this.headersOf(message)}, signal);
      await this.answer(message, reply);
    } catch (error) {
      // Nobody waits for the answer to a call that was given up.
      if (cancelled.signal.aborted || this.closing.signal.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      await this.fail(message, CODE.unreachable, `the platform's endpoint in this pod did not answer (${why})`);
    } finally {
      if (this.requests.get(key) === cancelled) this.requests.delete(key);
    }
  }

  private async answer(message: Message, {status, texts}: Reply): Promise<void> {
    const asked = message.method === undefined ? undefined : message.id;
    let answered = false;
    for await (const text of texts) {
      const said = readMessage(text);
      if (status >= 400 || said === undefined) {
        const {code, message: why} = said?.error ?? {code: CODE.unreachable, message: `it answered ${status}`};
        return await this.fail(message, code, why);
      }
      if (message.method === 'initialize' && said.version !== undefined) this.version = said.version;
      if (said.method === undefined) answered = true;
      await this.write(oneLine(text));
    }
    if (asked !== undefined && !answered)
      await this.fail(message, CODE.unreachable, `it answered ${status} and no more`);
  }

  /** A request gets its error; what nobody waits for an answer to is told in the log. */
  private async fail({id, method}: Message, code: number, why: string): Promise<void> {
    this.parts.say(`${method ?? 'a reply'}: ${why}`);
    if (method !== undefined && id !== undefined) await this.write(errorLine(id, code, why));
    // Neither request nor notification nor reply, such as a batch.
    if (method === undefined && id === undefined) await this.write(errorLine(null, code, why));
  }

  /** The headers that a client over HTTP would have sent. Only messages of the newer revisions carry their version. */
  private headersOf({method, version, subject}: Message): Record<string, string> {
    const headers: Record<string, string> = {};
    const agreed = version ?? (method === 'initialize' ? undefined : this.version);
    if (agreed !== undefined && PLAIN.test(agreed)) headers['mcp-protocol-version'] = agreed;
    if (version === undefined || method === undefined) return headers;
    if (PLAIN.test(method)) headers['mcp-method'] = method;
    if (subject !== undefined && PLAIN.test(subject)) headers['mcp-name'] = subject;
    return headers;
  }

  /** Resolves when there is room for more, so that an agent that reads nothing fills no memory. */
  private async write(line: string): Promise<void> {
    const {output} = this.parts;
    if (output.destroyed || output.write(`${line}\n`)) return;
    await Promise.race([new Promise<void>((resolve) => output.once('drain', resolve)), this.broken]);
  }
}
