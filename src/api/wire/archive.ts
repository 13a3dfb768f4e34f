import {z} from 'zod';
import {TranscriptRecord} from './runner.ts';

/**
 * Archive API, called by gateway and controller with a token of audience `carrel-archive`.
 *
 * `POST /archive/v1/append` takes an `Append` and answers `Appended`. A source numbers its records 1, 2, 3, ... within an
 * epoch; a record that is stored already is skipped, a gap is refused (409 with `acked`), so an append may be repeated.
 * `GET /archive/v1/sessions/{namespace}/{sessionUid}/records?after=<n>&limit=<n>&turn=<uid>` answers `Page`; `after` is the
 * number that the archive gave. `GET .../tail?bytes=<n>` answers a `Page` with the last records: as many as fit, at least one.
 * Errors are `ArchiveProblem`; codes: `gap` (with `acked`), `invalid`, `too_large`, `refused`, `no_verdict`, `busy`, `storage`,
 * `full` (507: the volume is full; nothing of the batch was stored).
 */

export const Append = z.object({
  namespace: z.string(),
  session: z.object({name: z.string(), uid: z.string()}),
  /** Pod UID of the runner, or `turn/<uid>` when the controller ends a turn. */
  source: z.string(),
  epoch: z.number().int().min(0),
  from: z.number().int().min(1),
  /** null: a number that carries no record, so that the numbers of a source may count other things too. */
  records: z.array(TranscriptRecord.nullable()).max(256),
});
export type Append = z.infer<typeof Append>;

/** Highest number of that source and epoch that is stored. */
export const Appended = z.object({acked: z.number().int().min(0)});
export type Appended = z.infer<typeof Appended>;

/** A stored record: its number in the Session, and the hash that chains it to the one before. */
export const StoredRecord = TranscriptRecord.extend({n: z.number().int(), hash: z.string()});
export type StoredRecord = z.infer<typeof StoredRecord>;

/** Records in order. `next` is the `after` of the following page; absent = no more now. */
export const Page = z.object({records: z.array(StoredRecord), next: z.number().int().optional()});
export type Page = z.infer<typeof Page>;

/** Why the archive did not do it. */
export const ArchiveProblem = z.object({code: z.string(), message: z.string(), acked: z.number().int().optional()});
export type ArchiveProblem = z.infer<typeof ArchiveProblem>;
