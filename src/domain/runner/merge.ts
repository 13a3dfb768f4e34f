import type {TranscriptRecord} from '../../api/wire/runner.ts';
import {cleanData, cleanText, tail} from './clean.ts';

/** A `session/update` of ACP, unknown kinds included. */
export type AgentUpdate = {sessionUpdate: string} & Record<string, unknown>;

/** A record before it gets its time and turn. */
export type Draft = Pick<TranscriptRecord, 'kind' | 'text' | 'data'>;

/** Longest text of one record; a longer message goes on in the next one, with the same `messageId`. */
const MAX_TEXT = 65_536;
const MAX_DATA_BYTES = 131_072;
/** Tool calls of one turn whose parts are remembered, and how much of them altogether: the runner's memory is small. */
const MAX_TOOL_CALLS = 512;
const MAX_KEPT = 2_097_152;
/** Ids are compared up to here. */
const MAX_ID = 512;

type OpenText = {kind: 'message' | 'thought'; messageId: string | undefined; text: string; part: number};

/** Merges the stream of one turn into records: chunks by kind and message id, tool calls by id. */
export class UpdateMerger {
  sawText = false;
  sawToolCall = false;
  private open: OpenText | undefined;
  private lastWords = '';
  private readonly toolCalls = new Map<string, {data: Record<string, unknown>; size: number}>();
  private kept = 0;
  private usage: Record<string, unknown> | undefined;

  /** Records that are complete after this update. */
  push(update: AgentUpdate): Draft[] {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return this.chunk('message', update);
      case 'agent_thought_chunk':
        return this.chunk('thought', update);
      case 'user_message_chunk':
        // An echo of the prompt, which is already recorded.
        return [];
      case 'tool_call':
      case 'tool_call_update':
        return [...this.flush(), ...this.toolCall(update)];
      case 'plan':
        return [...this.flush(), {kind: 'plan', data: body(update)}];
      case 'notice':
        return [...this.flush(), {kind: 'notice', text: noticeText(update), data: body(update)}];
      case 'usage_update':
        this.usage = body(update);
        return [];
      default:
        return [...this.flush(), {kind: 'raw', data: cleanData(update, MAX_DATA_BYTES)}];
    }
  }

  /** The text that is still open, as a record: at the end, or when it has been open for long. */
  flush(more = false): Draft[] {
    const open = this.open;
    if (open === undefined) return [];
    this.open = more ? {...open, text: '', part: open.part + 1} : undefined;
    if (open.text === '') return [];
    const data = {
      ...(open.messageId === undefined ? {} : {messageId: open.messageId}),
      ...(open.part > 0 || more ? {part: open.part} : {}),
    };
    return [{kind: open.kind, text: open.text, ...(Object.keys(data).length > 0 ? {data} : {})}];
  }

  /** What is left at the end of the turn. */
  end(): Draft[] {
    const unfinished = [...this.toolCalls.values()].filter(({data}) => !isFinal(data['status']));
    return [
      ...this.flush(),
      ...unfinished.map(({data}): Draft => ({kind: 'tool_call', data})),
      ...(this.usage === undefined
        ? []
        : [{kind: 'raw', data: {sessionUpdate: 'usage_update', ...this.usage}} as const]),
    ];
  }

  /** Last message of the agent, from its end. */
  response(max: number): string | undefined {
    return this.lastWords === '' ? undefined : tail(this.lastWords, max);
  }

  /** What is known of a tool call: a question about it often names no more than its id. */
  known(toolCallId: string): Record<string, unknown> {
    return this.toolCalls.get(toolCallId.slice(0, MAX_ID))?.data ?? {};
  }

  private chunk(kind: 'message' | 'thought', update: AgentUpdate): Draft[] {
    const messageId =
      typeof update['messageId'] === 'string' ? cleanText(update['messageId']).slice(0, 256) : undefined;
    const text = textOf(update['content']);
    if (text === undefined) return [...this.flush(), {kind, data: body(update)}];
    if (text === '') return [];
    const records: Draft[] = [];
    if (this.open?.kind !== kind || this.open.messageId !== messageId) {
      records.push(...this.flush());
      this.open = {kind, messageId, text: '', part: 0};
      if (kind === 'message') this.lastWords = '';
    }
    if (kind === 'message') {
      this.sawText = true;
      this.lastWords = (this.lastWords + text).slice(-2 * MAX_TEXT);
    }
    for (let at = 0; at < text.length; at += MAX_TEXT) {
      this.open.text += text.slice(at, at + MAX_TEXT);
      if (this.open.text.length >= MAX_TEXT) records.push(...this.flush(true));
      this.open ??= {kind, messageId, text: '', part: 0};
    }
    return records;
  }

  private toolCall(update: AgentUpdate): Draft[] {
    this.sawToolCall = true;
    const id = typeof update['toolCallId'] === 'string' ? update['toolCallId'].slice(0, MAX_ID) : '';
    const before = this.toolCalls.get(id)?.data;
    // Bounded as a whole: updates that each bring other members must not add up without end.
    const merged = cleanData({...before, ...body(update)}, MAX_DATA_BYTES);
    this.keep(id, merged);
    const final = isFinal(merged['status']) && !isFinal(before?.['status']);
    return before === undefined || final ? [{kind: 'tool_call', data: merged}] : [];
  }

  private keep(id: string, data: Record<string, unknown>): void {
    const size = JSON.stringify(data).length;
    this.kept += size - (this.toolCalls.get(id)?.size ?? 0);
    this.toolCalls.set(id, {data, size});
    for (const [oldest, call] of this.toolCalls) {
      if (oldest === id || (this.toolCalls.size <= MAX_TOOL_CALLS && this.kept <= MAX_KEPT)) break;
      this.kept -= call.size;
      this.toolCalls.delete(oldest);
    }
  }
}

function isFinal(status: unknown): boolean {
  return status === 'completed' || status === 'failed';
}

function body(update: AgentUpdate): Record<string, unknown> {
  const {sessionUpdate: _kind, ...rest} = update;
  return cleanData(rest, MAX_DATA_BYTES);
}

function textOf(content: unknown): string | undefined {
  if (typeof content !== 'object' || content === null || !('type' in content) || content.type !== 'text')
    return undefined;
  return 'text' in content && typeof content.text === 'string' ? cleanText(content.text) : undefined;
}

function noticeText(update: AgentUpdate): string {
  const text = update['message'] ?? update['text'] ?? '';
  return typeof text === 'string' ? cleanText(text).slice(0, MAX_TEXT) : '';
}
