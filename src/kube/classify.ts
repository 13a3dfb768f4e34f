import type {IncomingHttpHeaders} from 'node:http';
import {isJson} from '../api/json.ts';
import {ApiError, type ApiErrorKind, type ErrorCause} from './errors.ts';
import {items, member, text} from './typed.ts';

interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly ErrorCause[];
  /** `details.kind`: which kind is missing on a 404. */
  readonly missing: string;
  /** False when the body was no Status object: then the path itself is not served. */
  readonly isStatus: boolean;
  readonly create: boolean;
}

// First match wins. Texts are the only way to tell the faces of 403 apart; they were read on a 1.36 server.
const RULES: readonly (readonly [ApiErrorKind, (r: Refusal) => boolean])[] = [
  ['NamespaceTerminating', (r) => r.causes.some((c) => c.reason === 'NamespaceTerminating')],
  ['QuotaExceeded', (r) => r.status === 403 && r.message.includes('exceeded quota')],
  ['PolicyDenied', (r) => r.status >= 400 && r.status < 500 && /denied (the )?request/.test(r.message)],
  ['PolicyDenied', (r) => r.status === 403 && r.message.includes('failed to configure binding')],
  ['Forbidden', (r) => r.status === 403],
  ['Unauthorized', (r) => r.status === 401],
  ['NotServed', (r) => r.status === 404 && !r.isStatus],
  ['NamespaceNotFound', (r) => r.status === 404 && r.missing === 'namespaces'],
  ['NotFound', (r) => r.status === 404],
  [
    'Terminating',
    (r) => r.status === 409 && r.reason === 'AlreadyExists' && r.message.includes('object is being deleted'),
  ],
  ['AlreadyExists', (r) => r.status === 409 && r.reason === 'AlreadyExists'],
  ['Conflict', (r) => r.status === 409],
  ['Expired', (r) => r.status === 410],
  ['TooLarge', (r) => r.status === 413 || /ResourceExhausted|request is too large/.test(r.message)],
  ['TestFailed', (r) => r.status === 422 && r.causes.length === 0 && !r.create],
  ['Invalid', (r) => r.status === 422 || r.status === 400],
  ['Throttled', (r) => r.status === 429],
  ['Unavailable', (r) => r.status >= 500],
];

/** Turn a refused reply into an ApiError whose kind says what happened. `request` names the call and is free of bodies. */
export function refusal(
  reply: {status: number; text: string; headers: IncomingHttpHeaders},
  request: string,
): ApiError {
  const body = parseStatus(reply.text);
  const details = member(body, 'details');
  const causes = items(details, 'causes').map((c) => ({
    reason: text(c, 'reason'),
    message: text(c, 'message'),
    field: text(c, 'field'),
  }));
  const seen: Refusal = {
    status: reply.status,
    reason: text(body, 'reason'),
    message: text(body, 'message') || reply.text.slice(0, 200).trim() || `HTTP ${reply.status}`,
    causes,
    missing: text(details, 'kind'),
    isStatus: text(body, 'kind') === 'Status',
    create: request.startsWith('POST'),
  };
  const kind = RULES.find(([, matches]) => matches(seen))?.[0] ?? 'Other';
  const named = seen.missing === 'namespaces' && / namespaces /.test(request) ? 'NotFound' : kind;
  return new ApiError({
    kind: kind === 'NamespaceNotFound' ? named : kind,
    status: seen.status,
    reason: seen.reason,
    message: seen.message,
    causes,
    request,
    retryAfterSeconds: retryAfter(reply.headers, details['retryAfterSeconds']),
  });
}

function parseStatus(body: string): unknown {
  try {
    const parsed: unknown = JSON.parse(body);
    return isJson(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function retryAfter(headers: IncomingHttpHeaders, inBody: unknown): number | undefined {
  const header = Number(headers['retry-after']);
  if (headers['retry-after'] !== undefined && Number.isFinite(header) && header >= 0) return header;
  return typeof inBody === 'number' && inBody > 0 ? inBody : undefined;
}
