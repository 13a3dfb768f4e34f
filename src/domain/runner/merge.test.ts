import {describe, expect, test} from 'vitest';
import {type AgentUpdate, UpdateMerger} from './merge.ts';

const message = (text: string, messageId?: string): AgentUpdate => ({
  sessionUpdate: 'agent_message_chunk',
  content: {type: 'text', text},
  ...(messageId === undefined ? {} : {messageId}),
});
const thought = (text: string): AgentUpdate => ({sessionUpdate: 'agent_thought_chunk', content: {type: 'text', text}});
const run = (updates: AgentUpdate[]) => {
  const merger = new UpdateMerger();
  return {records: [...updates.flatMap((update) => merger.push(update)), ...merger.end()], merger};
};

describe('merging the updates of a turn', () => {
  test('chunks of one message are one record; another kind or id begins the next', () => {
    const {records, merger} = run([thought('hm'), message('a', '1'), message('b', '1'), message('c', '2')]);
    expect(records.map(({kind, text}) => [kind, text])).toEqual([
      ['thought', 'hm'],
      ['message', 'ab'],
      ['message', 'c'],
    ]);
    expect(merger.response(100)).toBe('c');
  });

  test('a tool call is recorded when it begins and when it ends, with all that was said of it', () => {
    const {records, merger} = run([
      {sessionUpdate: 'tool_call', toolCallId: 't', title: 'ls', status: 'pending'},
      {sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'in_progress'},
      {sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed', rawOutput: {ok: true}},
    ]);
    expect(records.map(({data}) => data)).toEqual([
      {toolCallId: 't', title: 'ls', status: 'pending'},
      {toolCallId: 't', title: 'ls', status: 'completed', rawOutput: {ok: true}},
    ]);
    expect(merger.sawToolCall).toBe(true);
  });

  test('an unknown kind is kept raw, the echo of the prompt is not', () => {
    const {records} = run([
      {sessionUpdate: 'dream_update', sheep: 3},
      {sessionUpdate: 'user_message_chunk', content: {type: 'text', text: 'echo'}},
    ]);
    expect(records).toEqual([{kind: 'raw', data: {sessionUpdate: 'dream_update', sheep: 3}}]);
  });

  test('a message longer than a record goes on in the next, losing nothing', () => {
    const text = 'é'.repeat(200_000);
    const {records, merger} = run([message(text)]);
    expect(records.map((r) => r.text ?? '').join('')).toBe(text);
    expect(Math.max(...records.map((r) => r.text?.length ?? 0))).toBeLessThanOrEqual(131_072);
    expect(merger.response(8192)?.length).toBe(8192);
  });

  test('a huge tool output is replaced by its size', () => {
    const {records} = run([{sessionUpdate: 'tool_call', toolCallId: 't', rawOutput: 'x'.repeat(1_000_000)}]);
    expect(records[0]?.data?.['rawOutput']).toEqual({truncated: true, length: 1_000_002});
  });

  test('what no store can keep is replaced: NUL and half surrogate pairs, in names too', () => {
    const {records} = run([message('a\0\ud800b'), {sessionUpdate: 'x', '\udc00': 'y\0'}]);
    expect(records.map(({text, data}) => text ?? data)).toEqual([
      'a\ufffd\ufffdb',
      {sessionUpdate: 'x', '\ufffd': 'y\ufffd'},
    ]);
  });

  test('an update of many small members, or of long names, is no larger than a batch', () => {
    const many = Object.fromEntries(Array.from({length: 60}, (_, i) => [`k${i}`, 'x'.repeat(16_000)]));
    const named = Object.fromEntries(Array.from({length: 4}, (_, i) => [`${i}${'n'.repeat(200_000)}`, i]));
    for (const members of [many, named]) {
      for (const sessionUpdate of ['tool_call', 'never_heard_of', 'plan', 'usage_update']) {
        const {records} = run([{...members, sessionUpdate, toolCallId: 't'}]);
        expect(JSON.stringify(records).length).toBeLessThan(300_000);
        expect(JSON.stringify(records)).toContain('"truncated":true');
      }
    }
  });

  test('what is remembered of tool calls is bounded, whatever ids and members an agent sends', () => {
    const merger = new UpdateMerger();
    for (let i = 0; i < 100; i += 1) {
      merger.push({
        sessionUpdate: 'tool_call',
        toolCallId: `${i}${'i'.repeat(10_000)}`,
        rawInput: 'x'.repeat(15_000),
        rawOutput: 'x'.repeat(60_000),
      });
      merger.push({sessionUpdate: 'tool_call_update', toolCallId: 'same', [`k${i}`]: 'x'.repeat(15_000)});
    }
    expect(JSON.stringify(merger.known('same')).length).toBeLessThan(200_000);
    expect(JSON.stringify(merger.end()).length).toBeLessThan(3_000_000);
  });
});
