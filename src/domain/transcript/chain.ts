import type {StoredRecord} from '../../api/wire/archive.ts';
import type {TranscriptRecord} from '../../api/wire/runner.ts';
import {canonicalHash} from '../canonical.ts';

/** The hash that the first record of a session is chained to: it binds the chain to that session. */
export function chainStart(namespace: string, sessionUid: string): string {
  return canonicalHash({namespace, sessionUid});
}

/** Hash of record number `n` after the record with hash `previous`: SHA-256 over the RFC 8785 form. */
export function chainHash(previous: string, n: number, record: TranscriptRecord): string {
  return canonicalHash({previous, n, record});
}

/** Number of the first record that does not fit the chain, or undefined when all do. `previous` is the hash before the first. */
export function firstBreak(records: readonly StoredRecord[], previous: string): number | undefined {
  let last = previous;
  let expected = records[0]?.n ?? 0;
  for (const {n, hash, ...record} of records) {
    if (n !== expected || hash !== chainHash(last, n, record)) return n;
    last = hash;
    expected += 1;
  }
  return undefined;
}
