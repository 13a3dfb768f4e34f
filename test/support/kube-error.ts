import {type ApiErrorKind, isApiError} from '../../src/kube/errors.ts';

/** How a call to the API server ended. */
export async function kindOf(call: Promise<unknown>): Promise<ApiErrorKind | 'ok'> {
  try {
    await call;
    return 'ok';
  } catch (error) {
    return isApiError(error) ? error.kind : 'Other';
  }
}
