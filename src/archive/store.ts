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
  /** Throws when the store cannot be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Size of a page that is never passed by more than one record. */
export const PAGE_BYTES = 4 * 1024 * 1024;
