import type {IncomingMessage, ServerResponse} from 'node:http';
import {type Dialect, type ModelCall, matchCall} from '../../domain/model/dialect.ts';
import {failureBody, parseJson} from '../../domain/model/failure.ts';
import {shownKey} from '../../domain/model/header.ts';
import {BaseUrlError, readBaseUrl, type Upstream} from '../../domain/model/url.ts';
import {BodyTooLarge, readBody} from '../../http/body.ts';
import {answerOrCut} from './answer-or-cut.ts';
import {refuseKey} from './guard.ts';
import {ModelLedger} from './model-ledger.ts';
import {type ModelSecret, readModelSecret, Trust} from './model-secret.ts';
import {ModelCallFailed, sendModelCall} from './model-send.ts';
import type {Finding, LoopbackOptions} from './ports.ts';

/** Largest request body; providers take 20 to 32 MiB, mostly as images. */
export const MAX_MODEL_BODY = 16 << 20;
/** All request bodies in memory together: the runner lives in a small container. */
const MAX_BUFFERED = 32 << 20;
/** Bodies up to this size are parsed to learn the name of the model. */
const MAX_PARSED = 2 << 20;

/** Answers the agent's model calls on loopback: the literal endpoint table, the real key put in, tokens counted. */
export class ModelProxy {
  readonly ledger = new ModelLedger();
  private readonly options: LoopbackOptions;
  private readonly dialect: Dialect;
  /** Undefined where the base URL cannot be used; then every call is refused. */
  private readonly upstream: Upstream | undefined;
  private readonly trust = new Trust();
  private finding: Finding | undefined;
  private buffered = 0;

  constructor(options: LoopbackOptions, model: NonNullable<LoopbackOptions['launch']['model']>) {
    this.options = options;
    this.dialect = model.dialect;
    try {
      this.upstream = readBaseUrl(model.dialect, model.baseUrl);
    } catch (error) {
      if (!(error instanceof BaseUrlError)) throw error;
      this.finding = {type: 'Stalled', reason: 'StartFailed', message: `${error.message}: correct the Agent`};
    }
  }

  /** Checks the mounted Secret; what is wrong is found in `findings()` and refuses every call. */
  async check(): Promise<{secret: ModelSecret; upstream: Upstream} | undefined> {
    const {upstream} = this;
    if (!upstream) return undefined;
    const secret = await readModelSecret(this.options, upstream, this.trust);
    this.finding = 'reason' in secret ? secret : undefined;
    return 'reason' in secret ? undefined : {secret, upstream};
  }

  findings(): Finding[] {
    return this.finding ? [this.finding] : [];
  }

  /** Answers one request whose form was checked; `target` is what follows the local prefix. */
  async answer(request: IncomingMessage, response: ServerResponse, target: string): Promise<void> {
    const wrong = refuseKey(shownKey(this.dialect, request.headers), this.options.key);
    if (wrong) return this.refuse(response, wrong.status, wrong.code, wrong.message);
    const call = matchCall(this.dialect, request.method ?? '', target);
    if ('status' in call) return this.refuse(response, call.status, 'not_found', call.message);
    const announced = Number(request.headers['content-length'] ?? MAX_MODEL_BODY);
    if (this.buffered + Math.min(announced, MAX_MODEL_BODY) > MAX_BUFFERED && this.buffered > 0) {
      return this.refuse(response, 429, 'too_many_bodies', 'too many large requests at once: try again');
    }
    const reserved = Math.min(announced, MAX_MODEL_BODY);
    this.buffered += reserved;
    try {
      await this.serve(call, request, response);
    } finally {
      this.buffered -= reserved;
    }
  }

  private async serve(call: ModelCall, request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body: Buffer;
    try {
      body = await readBody(request, request.method === 'GET' ? 0 : MAX_MODEL_BODY);
    } catch (error) {
      if (!(error instanceof BodyTooLarge)) throw error;
      return this.refuse(response, 413, 'request_too_large', `the body may hold at most ${MAX_MODEL_BODY} bytes`);
    }
    const model = this.modelOf(call, body);
    const checked = await this.check();
    if (!checked) {
      const {reason = '', message = ''} = this.finding ?? {};
      if (call.generates) this.ended(model, {status: 0, code: reason, message});
      return this.refuse(response, 502, reason, message);
    }
    if (call.generates) this.ledger.started();
    const {dialect, options} = this;
    try {
      const {usage, failure} = await sendModelCall({...checked, options, dialect, call, body, request, response});
      if (call.generates) this.ledger.ended(model, usage, failure && {...failure, at: Date.now()});
      if (failure) options.log.warn({status: failure.status, code: failure.code}, 'a model call failed');
    } catch (error) {
      if (!(error instanceof ModelCallFailed)) throw error;
      options.log.warn({code: error.code, error: error.message}, 'a model call got no answer');
      if (call.generates) this.ended(model, {status: 0, code: error.code, message: error.message});
      this.refuse(response, 502, error.code, error.message);
    }
  }

  private ended(model: string, failure: {status: number; code: string; message: string}): void {
    this.ledger.ended(model, {inputTokens: 0, outputTokens: 0}, {...failure, at: Date.now()});
  }

  private modelOf(call: ModelCall, body: Buffer): string {
    if (this.dialect === 'Gemini') return call.path;
    const parsed = body.length <= MAX_PARSED ? parseJson(body.toString('utf8')) : undefined;
    if (typeof parsed !== 'object' || parsed === null || !('model' in parsed)) return '';
    return String(parsed.model).slice(0, 256);
  }

  private refuse(response: ServerResponse, status: number, code: string, message: string): void {
    answerOrCut(response, status, failureBody(this.dialect, status, code, message));
  }
}
