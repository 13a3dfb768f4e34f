/** Every code that a refused call can carry: stable words, the HTTP status, and one sentence for the reference page. */
export const REFUSALS = {
  unauthorized: [401, "The credential is missing, wrong, expired, or its pod is no longer the session's."],
  two_credentials: [401, 'The request carries more than one credential; send exactly one.'],
  auth_unavailable: [503, 'The API server gave no verdict on the credential; try again.'],
  host_not_allowed: [403, 'The Host header names a host that is not on the allowlist (gateway.allowedHosts).'],
  origin_not_allowed: [403, 'The Origin header names an origin that is not on the allowlist (gateway.allowedOrigins).'],
  namespace_required: [400, 'The credential has no namespace of its own; name one in the path or query.'],
  namespace_forbidden: [403, 'The credential belongs to another namespace.'],
  method_not_allowed: [405, 'The path does not take this method; Allow lists what it takes.'],
  path_not_found: [404, 'Nothing is served at this path.'],
  body_too_large: [413, 'The body is larger than 1 MiB; send less: the text of one turn may have 64 KiB.'],
  media_type: [415, 'The body must be sent as application/json.'],
  invalid_json: [400, 'The body is not valid JSON.'],
  batch_refused: [400, 'JSON-RPC batches are not served; send one message per request.'],
  too_many_requests: [
    429,
    'The caller or its namespace has as many requests in flight as one may have; wait until some have ended, then try again.',
  ],
  busy: [503, 'Too many requests are being worked on; try again after Retry-After.'],
  invalid_arguments: [400, 'An argument does not fit the schema; the message names it.'],
  unsupported_argument: [
    400,
    'This version does not take the argument; the message says what to do instead, or what is taken. Nothing was done.',
  ],
  forbidden: [403, 'The caller may not do this; the message names the missing right.'],
  session_not_found: [404, 'No Session of that name is visible to the caller in this namespace.'],
  agent_not_found: [
    404,
    'No Agent of that name exists in this namespace; the message names those that the caller may see.',
  ],
  session_closed: [409, 'The session failed, is archived or closed, and takes no messages.'],
  session_required: [403, 'Only a session can call this tool.'],
  no_active_turn: [409, 'The session has no running turn to ask from.'],
  too_many_questions: [
    409,
    'The turn has asked as often as a turn may; end it, and say in the answer what is still open.',
  ],
  input_too_large: [413, 'The text is larger than 64 KiB.'],
  idempotency_conflict: [409, 'The idempotency key was used for something else; use a new one.'],
  being_deleted: [409, 'An object of that name is being deleted; try again later or use a new key.'],
  quota_exceeded: [403, 'A ResourceQuota of the namespace is used up.'],
  changed_meanwhile: [409, 'The object changed at the same time; read it again and repeat.'],
  refused_by_cluster: [422, 'The API server refuses the object; the message gives field and cause.'],
  cluster_unavailable: [
    503,
    'The API server did not answer; nothing is known about the outcome. Repeat with the same key.',
  ],
  archive_unavailable: [503, 'The archive did not answer; try again.'],
  cancelled: [499, 'The caller went away before the call ended.'],
  internal: [500, 'An error of the gateway; its log holds the details under the request id.'],
} as const satisfies Record<string, readonly [number, string]>;

/** A stable code. */
export type RefusalCode = keyof typeof REFUSALS;

/** Why a call was not carried out: a stable code, and a message that says what to do next. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string, options?: {cause?: unknown}) {
    super(message, options);
    this.code = code;
  }

  /** HTTP status that goes with the code. */
  get status(): number {
    return REFUSALS[this.code][0];
  }
}
