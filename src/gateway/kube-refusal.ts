import {Refusal, type RefusalCode} from '../domain/refusal.ts';
import {type ApiError, type ApiErrorKind, isApiError} from '../kube/errors.ts';

const CODES: Partial<Record<ApiErrorKind, RefusalCode>> = {
  NotFound: 'session_not_found',
  Terminating: 'being_deleted',
  Conflict: 'changed_meanwhile',
  TestFailed: 'changed_meanwhile',
  QuotaExceeded: 'quota_exceeded',
  PolicyDenied: 'refused_by_cluster',
  NamespaceTerminating: 'refused_by_cluster',
  NamespaceNotFound: 'refused_by_cluster',
  Invalid: 'refused_by_cluster',
  TooLarge: 'input_too_large',
  Throttled: 'cluster_unavailable',
  Unavailable: 'cluster_unavailable',
};

/** What a caller is told when the API server refuses; anything unforeseen stays an internal error. */
export function kubeRefusal(error: unknown): unknown {
  if (!isApiError(error)) return error;
  const code = CODES[error.kind];
  return code === undefined ? error : new Refusal(code, sentence(code, error), {cause: error});
}

/** Run a call to the API server; throws Refusals. */
export async function refusing<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw kubeRefusal(error);
  }
}

function sentence(code: RefusalCode, error: ApiError): string {
  if (code === 'cluster_unavailable')
    return 'The API server did not answer; repeat the call, with the same idempotency key if it creates something.';
  if (code === 'being_deleted')
    return 'An object of that name is being deleted; try again in a moment, or use a new idempotency key.';
  return error.facts.message;
}
