import {isApiError} from '../kube/errors.ts';

/** The result of a write, or undefined when its object is gone: what is gone needs neither writing nor deleting. */
export async function ifThere<T>(written: Promise<T>, ...alsoFine: readonly 'Conflict'[]): Promise<T | undefined> {
  try {
    return await written;
  } catch (error) {
    if (isApiError(error, 'NotFound', ...alsoFine)) return undefined;
    throw error;
  }
}
