import {describe, expect, it} from 'vitest';
import {BaseUrlError, originMatches, readBaseUrl} from './url.ts';

const upstream = readBaseUrl('AnthropicMessages', 'https://api.example:8443/x');

describe('the origin that a key is bound to', () => {
  it.each([
    ['https://api.example:8443', true],
    ['https://api.example:8443/', true],
    ['  https://API.example:8443\n', true],
    ['https://api.example', false],
    ['http://api.example:8443', false],
    ['https://api.example:8443/x', false],
    ['https://api.example:8443@evil.example', false],
    ['https://evil.example#https://api.example:8443', false],
    ['api.example:8443', false],
    ['', false],
    [undefined, false],
  ])('%s: %s', (origin, expected) => {
    expect(originMatches(origin, upstream)).toBe(expected);
  });

  it('takes the default port of https as written or not', () => {
    expect(originMatches('https://a.example:443', readBaseUrl('Gemini', 'https://a.example'))).toBe(true);
  });
});

it.each(['http://a.example', 'https://u:p@a.example', 'https://a.example?x=1', 'https://a.example/%2e%2e', 'nothing'])(
  'refuses the base URL %s',
  (text) => {
    expect(() => readBaseUrl('OpenAIChat', text)).toThrow(BaseUrlError);
  },
);

it('reads an IPv6 address without its brackets', () => {
  expect(readBaseUrl('OpenAIChat', 'https://[::1]:9/v1')).toMatchObject({host: '::1', port: 9});
});
