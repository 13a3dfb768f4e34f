import type {StoredSession, TranscriptStore} from './store.ts';

/** What the sweep of old transcripts needs. */
export interface RetentionParts {
  readonly store: Pick<TranscriptStore, 'sessions' | 'markGone' | 'markBack' | 'forget'>;
  /** Whether the Session of that name still has that UID; throws when that cannot be known now. */
  readonly isAlive: (session: StoredSession) => Promise<boolean>;
  /** How long a transcript is kept after its Session is gone. */
  readonly keepMs: number;
  readonly now: () => number;
  /** Run once after so long; the returned function cancels it. */
  readonly after: (ms: number, fn: () => void) => () => void;
  readonly log: {info(fields: object, message: string): void; warn(fields: object, message: string): void};
}

/** Between two sweeps; a transcript is kept up to this much longer than said. */
const EVERY_MS = 3_600_000;
/** Soon after a start, but not in the crowd of it. */
const FIRST_MS = 60_000;
/** Records deleted in one go: appends wait for no more, and on a full volume the log of SQLite has room for no more. */
const STEP = 200;

/** Sweep for as long as the process lives; the returned function ends it. */
export function startRetention(parts: RetentionParts): () => void {
  let cancel = parts.after(FIRST_MS, run);
  let stopped = false;
  function run(): void {
    sweepTranscripts(parts, () => stopped)
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : 'unknown';
        parts.log.warn({error: reason}, 'old transcripts could not be swept; tried again in an hour');
      })
      .finally(() => {
        if (!stopped) cancel = parts.after(EVERY_MS, run);
      });
  }
  return () => {
    stopped = true;
    cancel();
  };
}

/**
 * One sweep: delete what is gone for longer than it is kept, then ask for each other Session whether it is still there, and
 * remember since when not. In this order, because on a full volume nothing can be remembered before something is deleted.
 * Asked one by one: a list of all Sessions with their prompts would fill this process.
 */
export async function sweepTranscripts(parts: RetentionParts, stopped: () => boolean = () => false): Promise<number> {
  const records = await forgetOld(parts, stopped);
  if (records > 0) parts.log.info({records}, 'transcripts of sessions that are gone were deleted');
  for (const session of await parts.store.sessions()) {
    if (stopped()) break;
    if (!(await parts.isAlive(session))) await parts.store.markGone(session, new Date(parts.now()));
  }
  return records;
}

async function forgetOld({store, isAlive, keepMs, now}: RetentionParts, stopped: () => boolean): Promise<number> {
  const before = new Date(now() - keepMs);
  // Asked once more before what cannot be undone: a cluster that was restored has Sessions again that it had lost.
  for (const session of await store.sessions(before)) {
    if (stopped()) return 0;
    if (await isAlive(session)) await store.markBack(session);
  }
  let records = 0;
  for (let more = true; more && !stopped(); ) {
    const step = await store.forget(before, STEP);
    records += step.records;
    more = step.more;
    // Appends and reads come between two steps.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return records;
}
