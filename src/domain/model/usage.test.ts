import {describe, expect, it} from 'vitest';
import type {Dialect} from './dialect.ts';
import {SseReader} from './sse.ts';
import {ReplyMeter} from './usage.ts';

function meter(dialect: Dialect, contentType: string, text: string, size = 7) {
  const reader = new ReplyMeter(dialect, contentType);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  return reader.end();
}

const SSE = 'text/event-stream; charset=utf-8';
const JSON_TYPE = 'application/json';
const data = (...values: object[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');

const replies: [string, Dialect, string, string, number, number][] = [
  [
    'Anthropic JSON, cached input counted',
    'AnthropicMessages',
    JSON_TYPE,
    JSON.stringify({
      usage: {input_tokens: 3, cache_creation_input_tokens: 5, cache_read_input_tokens: 7, output_tokens: 11},
    }),
    15,
    11,
  ],
  [
    'Anthropic events, output is cumulative',
    'AnthropicMessages',
    SSE,
    `event: message_start\n${data({message: {usage: {input_tokens: 20, output_tokens: 1}}}, {usage: {output_tokens: 4}}, {usage: {output_tokens: 9}})}`,
    20,
    9,
  ],
  ['OpenAI chat JSON', 'OpenAIChat', JSON_TYPE, '{"usage":{"prompt_tokens":8,"completion_tokens":2}}', 8, 2],
  [
    'OpenAI chat events, usage in the last one',
    'OpenAIChat',
    SSE,
    `${data({choices: [{}], usage: null}, {choices: [], usage: {prompt_tokens: 8, completion_tokens: 2}})}data: [DONE]\n\n`,
    8,
    2,
  ],
  ['OpenAI responses JSON', 'OpenAIResponses', JSON_TYPE, '{"usage":{"input_tokens":4,"output_tokens":6}}', 4, 6],
  [
    'OpenAI responses events',
    'OpenAIResponses',
    SSE,
    data({type: 'response.created', response: {usage: null}}, {response: {usage: {input_tokens: 4, output_tokens: 6}}}),
    4,
    6,
  ],
  [
    'Gemini JSON, thoughts are output',
    'Gemini',
    JSON_TYPE,
    '{"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"thoughtsTokenCount":3}}',
    9,
    5,
  ],
  [
    'Gemini array',
    'Gemini',
    JSON_TYPE,
    '[{"usageMetadata":{"promptTokenCount":9}},{"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4}}]',
    9,
    4,
  ],
  ['Gemini events', 'Gemini', SSE, data({usageMetadata: {promptTokenCount: 9, candidatesTokenCount: 4}}), 9, 4],
  ['nonsense counts nothing', 'OpenAIChat', JSON_TYPE, '{"usage":{"prompt_tokens":-5,"completion_tokens":1e99}}', 0, 0],
  ['no JSON counts nothing', 'OpenAIChat', JSON_TYPE, '<html>', 0, 0],
];

describe('the tokens of a reply', () => {
  it.each(replies)('%s', (...[, dialect, type, text, inputTokens, outputTokens]) => {
    for (const size of [1, 7, 100_000]) {
      expect(meter(dialect, type, text, size)).toEqual({usage: {inputTokens, outputTokens}, failure: undefined});
    }
  });

  it('an event without its empty line at the end is read', () => {
    expect(meter('OpenAIChat', SSE, 'data: {"usage":{"prompt_tokens":1,"completion_tokens":2}}').usage).toEqual({
      inputTokens: 1,
      outputTokens: 2,
    });
  });

  it('an event of empty lines without end is not kept', () => {
    const reader = new SseReader(1_000);
    reader.push('data:\n'.repeat(1_001));
    expect(reader.push('\n')).toEqual([]);
    expect(reader.push('data: next\n\n')).toEqual(['next']);
  });

  it.each([
    ['AnthropicMessages', {type: 'error', error: {type: 'overloaded_error', message: 'busy'}}, 'overloaded_error'],
    [
      'OpenAIResponses',
      {type: 'response.failed', response: {error: {code: 'server_error', message: 'busy'}}},
      'server_error',
    ],
    ['OpenAIChat', {error: {message: 'busy', type: 'server_error', code: null}}, 'server_error'],
    ['Gemini', {error: {code: 503, message: 'busy', status: 'UNAVAILABLE'}}, 'UNAVAILABLE'],
  ] as const)('a failure inside a stream of %s is found', (dialect, value, code) => {
    expect(meter(dialect, SSE, data(value)).failure).toEqual({status: 200, code, message: 'busy'});
  });
});
