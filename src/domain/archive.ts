import type {Append, Appended, Page} from '../api/wire/archive.ts';
import {Refusal} from './refusal.ts';

/** The archive as its callers see it: appends are exactly-once by (source, epoch, number), reads come in order. */
export interface Archive {
  /** Throws `ArchiveError` when it could not be stored; may be repeated. */
  append(batch: Append, signal?: AbortSignal): Promise<Appended>;
  /** Records after the number `after` (0 = from the beginning), at most `limit`; `next` is absent at the end. */
  read(query: ArchiveQuery, signal?: AbortSignal): Promise<Page>;
  /** The last records, together at most `bytes` of text. */
  tail(query: {namespace: string; sessionUid: string; bytes: number}, signal?: AbortSignal): Promise<Page>;
}

/** What to read of one Session. */
export interface ArchiveQuery {
  /** Namespace of the Session: records are kept by namespace and UID. */
  readonly namespace: string;
  readonly sessionUid: string;
  readonly after: number;
  readonly limit: number;
  /** Only records of this turn. */
  readonly turnUid?: string | undefined;
}

/** Why the archive did not do it: `Unavailable` may be repeated, `Refused` may not, `Gap` says what it has. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
  readonly kind: 'Unavailable' | 'Refused' | 'Gap';
  /** With `Gap`: the highest number that is stored. */
  readonly acked: number | undefined;

  constructor(kind: 'Unavailable' | 'Refused' | 'Gap', message: string, options?: {acked?: number; cause?: unknown}) {
    super(message, {cause: options?.cause});
    this.kind = kind;
    this.acked = options?.acked;
  }
}

/** What a call to the archive gives, for tools: throws `archive_unavailable` when it fails. */
export async function archived<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    throw new Refusal('archive_unavailable', 'The archive did not answer; try again in a moment.', {cause: error});
  }
}

/** What a Session says while the archive takes nothing of it: one text whatever the cause, for each new one would be a write. */
export const ARCHIVE_TROUBLE = {
  type: 'ArchiveUnavailable',
  reason: 'ArchiveUnavailable',
  message:
    'the archive takes nothing: it does not answer, or its volume is full. Transcript and ends of turns wait for it, and nothing is lost while the pod stays: do not restart or cancel the session meanwhile. Look at the pod of the archive in the namespace of the release',
} as const;
