import type {StoredSession, TranscriptStore} from './store.ts';

/** What the sweep of old transcripts needs. */
export interface RetentionParts {
  readonly store: Pick<TranscriptStore, 'sessions' | 'markGone' | 'forget'>;
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
/** Records deleted in one go: appends wait for no more. */
const STEP = 2_000;

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
 * One sweep: ask for each Session whether it is still there, remember since when not, and delete what is gone for longer than
 * it is kept. Asked one by one: a list of all Sessions with their prompts would fill this process.
 */
export async function sweepTranscripts(parts: RetentionParts, stopped: () => boolean = () => false): Promise<number> {
  const {store} = parts;
  for (const session of await store.sessions()) {
    if (stopped()) return 0;
    if (!(await parts.isAlive(session))) await store.markGone(session, new Date(parts.now()));
  }
  const before = new Date(parts.now() - parts.keepMs);
  let records = 0;
  for (let more = true; more && !stopped(); ) {
    const step = await store.forget(before, STEP);
    records += step.records;
    more = step.more;
    // Appends and reads come between two steps.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (records > 0) parts.log.info({records}, 'transcripts of sessions that are gone were deleted');
  return records;
}
