import {DatabaseSync, type StatementSync} from 'node:sqlite';
import {z} from 'zod';
import type {Append, Page, StoredRecord} from '../api/wire/archive.ts';
import {TranscriptRecord} from '../api/wire/runner.ts';
import {chainHash, chainStart} from '../domain/transcript/chain.ts';
import {wellFormed} from '../domain/transcript/well-formed.ts';
import {migrate} from './sqlite-schema.ts';
import {type AppendResult, PAGE_BYTES, StoreFull, type TranscriptStore} from './store.ts';

const Head = z.object({id: z.int(), last_n: z.int(), last_hash: z.string()});
type Head = z.infer<typeof Head>;
const Session = z.object({namespace: z.string(), name: z.string(), uid: z.string()});
const Row = z.object({n: z.int(), hash: z.string(), bytes: z.int(), body: z.string()});
type Row = z.infer<typeof Row>;

const MAX_LIMIT = 1_000;

/**
 * Open the archive in this file (`:memory:` for tests). One process at a time; calls are synchronous and short. `maxPages`
 * bounds the file, in pages of 4 KiB; without it the volume does.
 */
export function openSqliteStore(file: string, {maxPages}: {maxPages?: number} = {}): TranscriptStore {
  const db = new DatabaseSync(file, {timeout: 5_000});
  // FULL: a commit is on disk before it is acknowledged, also when the node loses power.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
  migrate(db);
  if (maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${maxPages}`);
  const sql = prepare(db);
  return {
    append: async (batch) => inTransaction(db, () => append(sql, batch)),
    async read({namespace, sessionUid, after, limit, turnUid}) {
      const head = headOf(sql, namespace, sessionUid);
      if (head === undefined) return {records: []};
      const asked = Math.min(Math.max(1, limit), MAX_LIMIT);
      const rows =
        turnUid === undefined
          ? sql.page.iterate(head.id, after, asked + 1)
          : sql.turnPage.iterate(head.id, turnUid, after, asked + 1);
      return pageOf(rows, asked);
    },
    async tail({namespace, sessionUid, bytes}) {
      const head = headOf(sql, namespace, sessionUid);
      return head === undefined ? {records: []} : {records: lastRecords(sql.tail.iterate(head.id), bytes)};
    },
    sessions: async (goneBefore) =>
      z
        .array(Session)
        .parse(goneBefore === undefined ? sql.sessions.all() : sql.goneSessions.all(goneBefore.getTime())),
    async markGone({namespace, uid}, since) {
      sql.setGone.run(since.getTime(), namespace, uid);
    },
    async markBack({namespace, uid}) {
      sql.setBack.run(namespace, uid);
    },
    forget: async (before, limit) => inTransaction(db, () => forget(sql, before.getTime(), limit)),
    async check() {
      sql.check.get();
    },
    async close() {
      db.close();
    },
  };
}

type Sql = ReturnType<typeof prepare>;

function prepare(db: DatabaseSync) {
  const record = 'SELECT n, hash, bytes, body FROM record WHERE session = ?';
  return {
    head: db.prepare('SELECT id, last_n, last_hash FROM session WHERE namespace = ? AND uid = ?'),
    newSession: db.prepare(
      'INSERT INTO session (namespace, uid, name, last_n, last_hash) VALUES (?, ?, ?, 0, ?) RETURNING id, last_n, last_hash',
    ),
    moveHead: db.prepare('UPDATE session SET last_n = ?, last_hash = ?, gone = NULL WHERE id = ?'),
    acked: db.prepare('SELECT acked FROM source WHERE session = ? AND source = ? AND epoch = ?'),
    moveAcked: db.prepare(
      'INSERT INTO source (session, source, epoch, acked) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET acked = excluded.acked',
    ),
    insert: db.prepare('INSERT INTO record (session, n, turn, hash, bytes, body) VALUES (?, ?, ?, ?, ?, ?)'),
    page: db.prepare(`${record} AND n > ? ORDER BY n LIMIT ?`),
    turnPage: db.prepare(`${record} AND turn = ? AND n > ? ORDER BY n LIMIT ?`),
    tail: db.prepare(`${record} ORDER BY n DESC LIMIT ${MAX_LIMIT}`),
    sessions: db.prepare('SELECT namespace, name, uid FROM session WHERE gone IS NULL'),
    goneSessions: db.prepare('SELECT namespace, name, uid FROM session WHERE gone < ?'),
    setGone: db.prepare('UPDATE session SET gone = ? WHERE namespace = ? AND uid = ? AND gone IS NULL'),
    setBack: db.prepare('UPDATE session SET gone = NULL WHERE namespace = ? AND uid = ?'),
    goneBefore: db.prepare('SELECT id FROM session WHERE gone < ? LIMIT 1'),
    dropRecords: db.prepare('DELETE FROM record WHERE rowid IN (SELECT rowid FROM record WHERE session = ? LIMIT ?)'),
    dropSources: db.prepare('DELETE FROM source WHERE session = ?'),
    dropSession: db.prepare('DELETE FROM session WHERE id = ?'),
    check: db.prepare('SELECT count(*) FROM session WHERE id = 0'),
  } satisfies Record<string, StatementSync>;
}

function inTransaction<R>(db: DatabaseSync, work: () => R): R {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw isFull(error) ? new StoreFull({cause: error}) : error;
  }
}

const SQLITE_FULL = 13;

function isFull(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_FULL;
}

function forget(sql: Sql, before: number, limit: number): {records: number; more: boolean} {
  let records = 0;
  for (let row = sql.goneBefore.get(before); row !== undefined; row = sql.goneBefore.get(before)) {
    const id = z.int().parse(row['id']);
    records += Number(sql.dropRecords.run(id, limit - records).changes);
    if (records >= limit) return {records, more: true};
    sql.dropSources.run(id);
    sql.dropSession.run(id);
  }
  return {records, more: false};
}

function append(sql: Sql, batch: Append): AppendResult {
  const {namespace, session, source, epoch, from} = batch;
  const known = headOf(sql, namespace, session.uid);
  const acked = known === undefined ? 0 : ackedOf(sql, known.id, source, epoch);
  if (from > acked + 1) return {kind: 'gap', acked};
  const fresh = batch.records.slice(acked + 1 - from);
  if (fresh.length === 0) return {kind: 'stored', acked, stored: 0};
  const head =
    known ?? Head.parse(sql.newSession.get(namespace, session.uid, session.name, chainStart(namespace, session.uid)));
  let {last_n: n, last_hash: hash} = head;
  for (const raw of fresh) {
    if (raw === null) continue;
    const record = TranscriptRecord.parse(wellFormed(raw));
    n += 1;
    hash = chainHash(hash, n, record);
    const body = JSON.stringify(record);
    sql.insert.run(head.id, n, record.turn?.uid ?? null, hash, Buffer.byteLength(body), body);
  }
  const last = acked + fresh.length;
  sql.moveHead.run(n, hash, head.id);
  sql.moveAcked.run(head.id, source, epoch, last);
  return {kind: 'stored', acked: last, stored: n - head.last_n};
}

function headOf(sql: Sql, namespace: string, uid: string): Head | undefined {
  const row = sql.head.get(namespace, uid);
  return row === undefined ? undefined : Head.parse(row);
}

function ackedOf(sql: Sql, session: number, source: string, epoch: number): number {
  const row = sql.acked.get(session, source, epoch);
  return row === undefined ? 0 : z.int().parse(row['acked']);
}

function pageOf(rows: Iterable<unknown>, limit: number): Page {
  const records: StoredRecord[] = [];
  let bytes = 0;
  for (const raw of rows) {
    const row = Row.parse(raw);
    const last = records.at(-1);
    if (last !== undefined && (records.length === limit || bytes + row.bytes > PAGE_BYTES))
      return {records, next: last.n};
    records.push(recordOf(row));
    bytes += row.bytes;
  }
  return {records};
}

function lastRecords(rows: Iterable<unknown>, limit: number): StoredRecord[] {
  const records: StoredRecord[] = [];
  let bytes = 0;
  for (const raw of rows) {
    const row = Row.parse(raw);
    bytes += row.bytes;
    if (records.length > 0 && bytes > limit) break;
    records.unshift(recordOf(row));
  }
  return records;
}

function recordOf(row: Row): StoredRecord {
  return {...TranscriptRecord.parse(JSON.parse(row.body)), n: row.n, hash: row.hash};
}
