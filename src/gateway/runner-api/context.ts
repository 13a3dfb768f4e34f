import type {Context, TranscriptRecord} from '../../api/wire/runner.ts';
import type {Archive} from '../../domain/archive.ts';
import type {Bound} from '../auth/binding.ts';

/** Bytes of transcript that a runner is given to rebuild a conversation from. */
export const CONTEXT_BYTES = 65_536;

/** The end of the transcript: whole records, and of a single one that is larger its last part. */
export async function contextOf(archive: Archive, {session}: Bound): Promise<Context> {
  const {namespace, uid} = session.metadata;
  const page = await archive.tail({namespace: namespace ?? '', sessionUid: uid, bytes: CONTEXT_BYTES});
  return {records: page.records.map(({n: _n, hash: _hash, ...record}) => shortened(record))};
}

function shortened(record: TranscriptRecord): TranscriptRecord {
  const {text, data, ...rest} = record;
  if (Buffer.byteLength(JSON.stringify(record)) <= CONTEXT_BYTES) return record;
  // UTF-8 takes at most three bytes for a UTF-16 unit.
  return text === undefined ? rest : {...rest, text: text.slice(-CONTEXT_BYTES / 4).toWellFormed()};
}
