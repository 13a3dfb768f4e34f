import type {Append, Page} from '../api/wire/archive.ts';
import type {ArchiveQuery} from '../domain/archive.ts';

/** What became of an append. */
export type AppendResult =
  /** All records of the batch are on disk; `stored` of them were new. */
  | {readonly kind: 'stored'; readonly acked: number; readonly stored: number}
  /** Records between `acked` and the batch are missing: nothing was stored. */
  | {readonly kind: 'gap'; readonly acked: number};

/**
 * Where transcripts are kept. Every implementation passes `test/support/transcript-store-contract.ts`. A source numbers its
 * records within an epoch; a number that is stored already is skipped, so that an append may be repeated.
 */
export interface TranscriptStore {
  /** Resolves when the records would survive a crash. */
  append(batch: Append): Promise<AppendResult>;
  /** Records in order, at most `limit` and about 4 MiB; an unknown session has none. */
  read(query: ArchiveQuery): Promise<Page>;
  /** The last records that fit into `bytes`, at least one if there is any. */
  tail(query: {namespace: string; sessionUid: string; bytes: number}): Promise<Page>;
  /** The sessions that are stored and not yet known to be gone; with `goneBefore`, those that are gone since before it. */
  sessions(goneBefore?: Date): Promise<readonly StoredSession[]>;
  /** Remember that the session is gone, from when on; a later record of it takes that back. */
  markGone(session: StoredSession, since: Date): Promise<void>;
  /** The session is there after all. */
  markBack(session: StoredSession): Promise<void>;
  /** Delete at most `limit` records of sessions that are gone since before `before`; the last one of a session takes it along. */
  forget(before: Date, limit: number): Promise<{readonly records: number; readonly more: boolean}>;
  /** Throws when the store cannot be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** A session that has records. */
export interface StoredSession {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Nothing of it was stored: there is no space left. */
export class StoreFull extends Error {
  override readonly name = 'StoreFull';

  constructor(options?: {cause?: unknown}) {
    super('the volume of the archive is full: enlarge it, or keep transcripts for a shorter time', options);
  }
}

/** Size of a page that is never passed by more than one record. */
export const PAGE_BYTES = 4 * 1024 * 1024;
