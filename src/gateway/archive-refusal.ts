import {ArchiveError} from '../domain/archive.ts';
import {Refusal} from '../domain/refusal.ts';

/** Run a call to the archive; throws `archive_unavailable` when it fails. */
export async function archived<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    throw new Refusal('archive_unavailable', 'The archive did not answer; try again in a moment.', {cause: error});
  }
}
