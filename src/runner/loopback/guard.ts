import {createHash, timingSafeEqual} from 'node:crypto';
import type {IncomingMessage} from 'node:http';
import {CREDENTIAL_HEADERS} from '../../domain/model/header.ts';

/** Why a local request is refused. */
export interface Refusal {
  status: 400 | 401 | 403 | 404 | 405 | 413 | 421 | 429;
  code: string;
  message: string;
}

/** Compares in constant time, whatever the lengths. */
export function sameKey(shown: string | undefined, key: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(shown ?? ''), digest(key)) && shown !== undefined;
}

/**
 * Refuses what only a page, a confused client or an attack sends: another Host, an Origin, an absolute form, two
 * credentials. A browser that was rebound to this address shows its own Host and its Origin.
 */
export function refuseForm(request: IncomingMessage, host: string): Refusal | undefined {
  const target = request.url ?? '';
  if (!target.startsWith('/') || target.startsWith('//')) {
    return {status: 400, code: 'bad_target', message: 'send a path as the request target, such as /mcp'};
  }
  if (request.headers.host !== host || countOf(request, 'host') !== 1) {
    return {status: 421, code: 'wrong_host', message: `the Host header must be ${host}`};
  }
  if (request.headers.origin !== undefined) {
    return {status: 403, code: 'origin_refused', message: 'requests with an Origin header are refused'};
  }
  if (CREDENTIAL_HEADERS.reduce((total, name) => total + countOf(request, name), 0) > 1) {
    return {status: 401, code: 'two_credentials', message: 'send one credential, in one header'};
  }
  return undefined;
}

/** Refuses every key but the one of this attempt. */
export function refuseKey(shown: string | undefined, key: string): Refusal | undefined {
  if (sameKey(shown, key)) return undefined;
  return {status: 401, code: 'wrong_key', message: 'use the key that this attempt got in its environment'};
}

function countOf(request: IncomingMessage, name: string): number {
  return request.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}
