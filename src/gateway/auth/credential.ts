import type {IncomingMessage} from 'node:http';
import {Refusal} from '../../domain/refusal.ts';

/** The one credential of a request. */
export type Credential =
  /** A JWT, with the audiences that it claims; nothing of it is trusted before a review. */
  | {readonly kind: 'token'; readonly token: string; readonly audiences: readonly string[]}
  /** Anything else: an API key. */
  | {readonly kind: 'key'; readonly key: string};

/** Longest credential taken; longer ones are no tokens of Kubernetes. */
const MAX_LENGTH = 16_384;

/** Take the credential from the headers; refuses none and more than one. */
export function readCredential(req: IncomingMessage): Credential {
  const keys = req.headersDistinct['x-api-key'] ?? [];
  const bearers = req.headersDistinct['authorization'] ?? [];
  if (keys.length + bearers.length > 1 || countRaw(req, 'authorization') > 1) {
    throw new Refusal(
      'two_credentials',
      'The request carries more than one credential; send exactly one: X-API-Key or Authorization: Bearer.',
    );
  }
  const [key] = keys;
  if (key !== undefined) return {kind: 'key', key: checked(key)};
  const bearer = /^Bearer +(\S+) *$/i.exec(bearers[0] ?? '')?.[1];
  if (bearer === undefined) throw missing();
  const audiences = audiencesOf(checked(bearer));
  return audiences === undefined ? {kind: 'key', key: bearer} : {kind: 'token', token: bearer, audiences};
}

/** Audiences that a JWT claims, or undefined when it is none. Used only to choose which audience to ask about. */
export function audiencesOf(token: string): string[] | undefined {
  const parts = token.split('.');
  const payload = parts[1];
  if (parts.length !== 3 || payload === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    if (typeof claims !== 'object' || claims === null) return undefined;
    const aud = 'aud' in claims ? claims.aud : [];
    const list: unknown[] = Array.isArray(aud) ? aud : [aud];
    return list.filter((a) => typeof a === 'string');
  } catch {
    return undefined;
  }
}

function checked(value: string): string {
  if (value.length === 0 || value.length > MAX_LENGTH) throw missing();
  return value;
}

function missing(): Refusal {
  return new Refusal(
    'unauthorized',
    'Send a credential: X-API-Key: <key>, or Authorization: Bearer <key or Kubernetes token>.',
  );
}

// Node drops a second Authorization header silently; the raw headers still show it.
function countRaw(req: IncomingMessage, name: string): number {
  return req.rawHeaders.filter((h, i) => i % 2 === 0 && h.toLowerCase() === name).length;
}
