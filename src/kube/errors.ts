/** What went wrong, told apart as the API server really answers (several kinds share one HTTP status). */
export type ApiErrorKind =
  /** 404 for the object itself. */
  | 'NotFound'
  /** 404 because the namespace does not exist. */
  | 'NamespaceNotFound'
  /** 404 because the API server does not know the kind (CRD missing); says nothing about the object. */
  | 'NotServed'
  /** 409 on create: the name is taken by a live object. */
  | 'AlreadyExists'
  /** 409 on create: the name is taken by an object that is being deleted; wait, do not adopt. */
  | 'Terminating'
  /** 409: stale resourceVersion, a failed delete precondition or a field manager conflict. */
  | 'Conflict'
  /** 403 by RBAC; shortly after a reconnect it may be transient. */
  | 'Forbidden'
  /** 403 by a ResourceQuota. */
  | 'QuotaExceeded'
  /** 403 or 422 by an admission policy or webhook. */
  | 'PolicyDenied'
  /** 403: the namespace is terminating; final. */
  | 'NamespaceTerminating'
  /** 422 without causes: a JSON Patch `test` failed (or its path does not exist); read live, then decide. */
  | 'TestFailed'
  /** 422 with causes, or 400: the object breaks the schema or a rule. */
  | 'Invalid'
  /** 401: the credential is not accepted. */
  | 'Unauthorized'
  /** 410: the resourceVersion or continue token is too old; list anew. */
  | 'Expired'
  /** 413, or etcd's own limit. */
  | 'TooLarge'
  /** 429 after all bounded retries. */
  | 'Throttled'
  /** 5xx, a broken connection or a time-out: nothing is known about the outcome of a write. */
  | 'Unavailable'
  /** Not sent: this process may not write now (it is not the leader). */
  | 'NotLeader'
  /** The caller's signal was aborted. */
  | 'Aborted'
  /** Anything else. */
  | 'Other';

/** One entry of `details.causes`. */
export interface ErrorCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** The facts of one failed call. */
export interface ApiErrorFacts {
  readonly kind: ApiErrorKind;
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** `reason` of the Status object, or ''. */
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly ErrorCause[];
  /** Seconds the server asks to wait. */
  readonly retryAfterSeconds?: number | undefined;
  /** `PATCH sessions.carrel.dev team-a/one status`: what was attempted, without any body. */
  readonly request: string;
}

/** Every failed call of the client throws this; `kind` decides, the text is for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly facts: ApiErrorFacts;

  constructor(facts: ApiErrorFacts, options?: {cause?: unknown}) {
    super(`${facts.request}: ${facts.status === 0 ? '' : `${facts.status} `}${facts.message}`, options);
    this.facts = facts;
  }

  /** What went wrong. */
  get kind(): ApiErrorKind {
    return this.facts.kind;
  }

  /** HTTP status; 0 when there was no answer. */
  get status(): number {
    return this.facts.status;
  }
}

/** True when `error` is an ApiError of one of these kinds. */
export function isApiError(error: unknown, ...kinds: readonly ApiErrorKind[]): error is ApiError {
  return error instanceof ApiError && (kinds.length === 0 || kinds.includes(error.kind));
}
