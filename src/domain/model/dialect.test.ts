import {describe, expect, it} from 'vitest';
import {type Dialect, matchCall} from './dialect.ts';
import {readBaseUrl, upstreamPath} from './url.ts';

const allowed: [Dialect, string, string, string, string][] = [
  ['AnthropicMessages', 'https://a.example', 'POST', '/v1/messages', '/v1/messages'],
  ['AnthropicMessages', 'https://a.example', 'POST', '/v1/messages?beta=true', '/v1/messages?beta=true'],
  ['AnthropicMessages', 'https://a.example/', 'POST', '/v1/messages/count_tokens', '/v1/messages/count_tokens'],
  ['AnthropicMessages', 'https://a.example/anthropic', 'POST', '/v1/messages', '/anthropic/v1/messages'],
  ['AnthropicMessages', 'https://a.example/anthropic/v1/', 'POST', '/v1/messages', '/anthropic/v1/messages'],
  ['OpenAIChat', 'https://a.example', 'POST', '/v1/chat/completions', '/v1/chat/completions'],
  ['OpenAIChat', 'https://a.example', 'POST', '/chat/completions', '/v1/chat/completions'],
  ['OpenAIChat', 'https://a.example/api/v1', 'POST', '/v1/chat/completions', '/api/v1/chat/completions'],
  ['OpenAIChat', 'https://a.example/compat/openai', 'POST', '/chat/completions', '/compat/openai/chat/completions'],
  ['OpenAIChat', 'https://a.example', 'GET', '/v1/models', '/v1/models'],
  ['OpenAIResponses', 'https://a.example/v1', 'POST', '/responses', '/v1/responses'],
  [
    'Gemini',
    'https://a.example',
    'POST',
    '/v1beta/models/g-2.5:generateContent',
    '/v1beta/models/g-2.5:generateContent',
  ],
  [
    'Gemini',
    'https://a.example/v1beta',
    'POST',
    '/v1beta/models/g:streamGenerateContent?alt=sse',
    '/v1beta/models/g:streamGenerateContent?alt=sse',
  ],
];

const refused: [Dialect, string, string, number][] = [
  ['AnthropicMessages', 'GET', '/v1/messages', 405],
  ['AnthropicMessages', 'POST', '/v1/files', 404],
  ['AnthropicMessages', 'POST', '/v1/messages/', 404],
  ['AnthropicMessages', 'POST', '/v1/messages/batches', 404],
  ['AnthropicMessages', 'POST', '/v1/../v1/messages', 404],
  ['AnthropicMessages', 'POST', '//evil.example/v1/messages', 404],
  ['AnthropicMessages', 'POST', '/v1%2fmessages', 404],
  ['AnthropicMessages', 'POST', '/v1/messages%00', 404],
  ['AnthropicMessages', 'POST', '/v1/messages?key=x', 404],
  ['AnthropicMessages', 'POST', '/v1/messages?beta=true&x=1', 404],
  ['AnthropicMessages', 'POST', '/v1/messages;x', 404],
  ['AnthropicMessages', 'POST', '/v1/messages#x', 404],
  ['AnthropicMessages', 'POST', '/V1/messages', 404],
  ['OpenAIChat', 'POST', '/v1/responses', 404],
  ['OpenAIChat', 'DELETE', '/v1/models', 405],
  ['Gemini', 'POST', '/v1beta/models/../x:generateContent', 404],
  ['Gemini', 'POST', '/v1beta/models/a/b:generateContent', 404],
  ['Gemini', 'POST', '/v1beta/models/a:generateContent?key=AIza', 404],
  ['Gemini', 'POST', '/v1beta/models/a%2fb:generateContent', 404],
];

describe('the endpoint table of the model proxy', () => {
  it.each(allowed)('%s at %s: %s %s goes to %s', (...[dialect, base, method, target, expected]) => {
    const call = matchCall(dialect, method, target);
    if ('status' in call) throw new Error(call.message);
    expect(upstreamPath(dialect, readBaseUrl(dialect, base), call)).toBe(expected);
  });

  it.each(refused)('%s refuses %s %s with %i', (dialect, method, target, status) => {
    expect(matchCall(dialect, method, target)).toMatchObject({status});
  });
});
