import {z} from 'zod';
import type {Dialect} from './dialect.ts';
import {type Failure, parseJson, readFailure} from './failure.ts';
import {SseReader} from './sse.ts';

/** Tokens of one call. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

const count = z.number().int().nonnegative().max(1e9).nullish();

const Anthropic = z.object({
  input_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens: count,
});
const Chat = z.object({prompt_tokens: count, completion_tokens: count});
const Responses = z.object({input_tokens: count, output_tokens: count});
const Gemini = z.object({
  promptTokenCount: count,
  toolUsePromptTokenCount: count,
  candidatesTokenCount: count,
  thoughtsTokenCount: count,
});

type Counts = {input: number | undefined; output: number | undefined};

const sum = (...parts: (number | null | undefined)[]) =>
  parts.every((part) => part == null) ? undefined : parts.reduce<number>((total, part) => total + (part ?? 0), 0);

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : undefined;

/** Where each dialect puts its counters, in a whole reply as well as in an event of a stream. */
function readCounts(dialect: Dialect, value: unknown): Counts | undefined {
  if (dialect === 'AnthropicMessages') {
    const found = Anthropic.safeParse(member(value, 'usage') ?? member(member(value, 'message'), 'usage')).data;
    if (!found) return undefined;
    const input = sum(found.input_tokens, found.cache_creation_input_tokens, found.cache_read_input_tokens);
    return {input, output: sum(found.output_tokens)};
  }
  if (dialect === 'OpenAIChat') {
    const found = Chat.safeParse(member(value, 'usage')).data;
    return found && {input: sum(found.prompt_tokens), output: sum(found.completion_tokens)};
  }
  if (dialect === 'OpenAIResponses') {
    const found = Responses.safeParse(member(value, 'usage') ?? member(member(value, 'response'), 'usage')).data;
    return found && {input: sum(found.input_tokens), output: sum(found.output_tokens)};
  }
  const found = Gemini.safeParse(member(value, 'usageMetadata')).data;
  return (
    found && {
      input: sum(found.promptTokenCount, found.toolUsePromptTokenCount),
      output: sum(found.candidatesTokenCount, found.thoughtsTokenCount),
    }
  );
}

/** A failure that a provider reports inside a stream whose status was 200. */
function readStreamFailure(value: unknown): Failure | undefined {
  const error = member(value, 'error') ?? member(member(value, 'response'), 'error');
  if (error === undefined || error === null) return undefined;
  return readFailure(200, JSON.stringify({error}));
}

/** Longest reply that is kept whole for reading; a longer one passes through unmetered and says so. */
const MAX_REPLY = 8 << 20;

/** Reads tokens and failure of one reply while it passes. Counters of a stream are cumulative: the highest one counts. */
export class ReplyMeter {
  private readonly dialect: Dialect;
  private readonly sse: SseReader | undefined;
  private readonly decoder = new TextDecoder();
  private text = '';
  private input = 0;
  private output = 0;
  private found: Failure | undefined;

  constructor(dialect: Dialect, contentType: string | undefined) {
    this.dialect = dialect;
    this.sse = /^text\/event-stream/i.test(contentType ?? '') ? new SseReader() : undefined;
  }

  /** Takes the next bytes. */
  push(chunk: Uint8Array): void {
    const text = this.decoder.decode(chunk, {stream: true});
    if (this.sse) for (const data of this.sse.push(text)) this.read(parseJson(data));
    else if (this.text.length + text.length <= MAX_REPLY) this.text += text;
  }

  /** Call once, when the reply has ended or was cut. */
  end(): {usage: Usage; failure: Failure | undefined} {
    if (this.sse) for (const data of this.sse.end()) this.read(parseJson(data));
    else {
      const value = parseJson(this.text);
      // Gemini streams a JSON array where the client did not ask for events.
      for (const item of Array.isArray(value) ? value : [value]) this.read(item);
    }
    return {usage: {inputTokens: this.input, outputTokens: this.output}, failure: this.found};
  }

  private read(value: unknown): void {
    const counts = readCounts(this.dialect, value);
    this.input = Math.max(this.input, counts?.input ?? 0);
    this.output = Math.max(this.output, counts?.output ?? 0);
    this.found ??= readStreamFailure(value);
  }
}
