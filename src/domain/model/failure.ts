import {z} from 'zod';
import type {Dialect} from './dialect.ts';

/** What went wrong with a model call, without any key in it. */
export interface Failure {
  /** HTTP status of the provider; 0 when none came. */
  status: number;
  code: string;
  message: string;
}

const Detail = z.object({
  type: z.string().optional(),
  code: z.union([z.string(), z.number()]).nullish(),
  status: z.string().optional(),
  message: z.string().optional(),
});
const Body = z.object({error: z.union([Detail, z.string()])});

/** Longest text of a provider that is kept. */
const MAX_MESSAGE = 500;

/** Code and message of a provider's error body; the status alone where the body says nothing. */
export function readFailure(status: number, body: string): Failure {
  const fallback = {status, code: `http_${status}`, message: `the provider answered ${status}`};
  const parsed = Body.safeParse(parseJson(body));
  if (!parsed.success) return fallback;
  const {error} = parsed.data;
  if (typeof error === 'string') return {...fallback, message: clip(error)};
  const word = typeof error.code === 'string' ? error.code : undefined;
  return {
    status,
    code: clip(error.status ?? word ?? error.type ?? fallback.code, 64),
    message: clip(error.message ?? fallback.message),
  };
}

/** Body of an error that the proxy itself answers, in the shape that clients of the dialect print. */
export function failureBody(dialect: Dialect, status: number, code: string, message: string): string {
  if (dialect === 'AnthropicMessages') return JSON.stringify({type: 'error', error: {type: code, message}});
  if (dialect === 'Gemini') return JSON.stringify({error: {code: status, status: code, message}});
  return JSON.stringify({error: {message, type: code, code, param: null}});
}

/** JSON or undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function clip(text: string, max = MAX_MESSAGE): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}
