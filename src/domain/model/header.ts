import type {Dialect} from './dialect.ts';

/** Header values as Node gives them: lower-case names. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

const ACCEPT = ['application/json', 'text/event-stream', '*/*'] as const;
const TOKENS = /^[A-Za-z0-9._, -]{1,512}$/;

/** Request headers that may carry meaning to a provider, each with the only form that is passed on. */
const PASSED: Record<Dialect, Readonly<Record<string, RegExp>>> = {
  AnthropicMessages: {'anthropic-version': /^\d{4}-\d{2}-\d{2}$/, 'anthropic-beta': TOKENS},
  OpenAIChat: {'openai-beta': TOKENS},
  OpenAIResponses: {'openai-beta': TOKENS},
  Gemini: {},
};

/** Headers in which a dialect's client sends its key, in the order in which they are looked at. */
const CREDENTIALS: Record<Dialect, readonly string[]> = {
  AnthropicMessages: ['x-api-key', 'authorization'],
  OpenAIChat: ['authorization'],
  OpenAIResponses: ['authorization'],
  Gemini: ['x-goog-api-key'],
};

/** Every header that can carry a credential of some dialect: a request may hold one of them, once. */
export const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key', 'proxy-authorization', 'cookie'];

/** The header that the provider takes its key in, and its value. */
export function keyHeader(dialect: Dialect, key: string): [string, string] {
  if (dialect === 'AnthropicMessages') return ['x-api-key', key];
  if (dialect === 'Gemini') return ['x-goog-api-key', key];
  return ['authorization', `Bearer ${key}`];
}

/** The key that a local request shows, in a header of its dialect; undefined if there is none. */
export function shownKey(dialect: Dialect, headers: Headers): string | undefined {
  for (const name of CREDENTIALS[dialect]) {
    const value = headers[name];
    if (typeof value !== 'string') continue;
    if (name !== 'authorization') return value;
    return bearer(value);
  }
  return undefined;
}

/** The token of an `Authorization: Bearer` value. */
export function bearer(value: string | undefined): string | undefined {
  return /^bearer ([^\s]+)$/i.exec(value ?? '')?.[1];
}

/** Request headers for the provider, built from constants and the allowlist; nothing else of the request is copied. */
export function upstreamHeaders(dialect: Dialect, headers: Headers, hasBody: boolean): Record<string, string> {
  const accept = ACCEPT.find((value) => value === headers['accept']) ?? 'application/json, text/event-stream';
  const built: Record<string, string> = {
    accept,
    // The reply is read and redacted as it passes, so it must not be compressed.
    'accept-encoding': 'identity',
    'user-agent': 'carrel',
  };
  if (hasBody) built['content-type'] = 'application/json';
  for (const [name, form] of Object.entries(PASSED[dialect])) {
    const value = headers[name];
    if (typeof value === 'string' && form.test(value)) built[name] = value;
  }
  if (dialect === 'AnthropicMessages') built['anthropic-version'] ??= '2023-06-01';
  return built;
}

const RETURNED = ['content-type', 'retry-after', 'retry-after-ms', 'request-id', 'x-request-id', 'x-should-retry'];
const RETURNED_PREFIXES = ['anthropic-ratelimit-', 'x-ratelimit-'];

/** Response headers that the agent gets; the caller redacts the values. */
export function returnedHeaders(headers: Headers): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string' || value.length > 1024) continue;
    if (RETURNED.includes(name) || RETURNED_PREFIXES.some((prefix) => name.startsWith(prefix))) kept[name] = value;
  }
  return kept;
}
