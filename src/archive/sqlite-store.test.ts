import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {DatabaseSync} from 'node:sqlite';
import {afterAll, describe, expect, it} from 'vitest';
import {batchOf, transcriptStoreContract} from '../../test/support/transcript-store-contract.ts';
import {chainStart, firstBreak} from '../domain/transcript/chain.ts';
import {openSqliteStore} from './sqlite-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'carrel-archive-'));
afterAll(() => rmSync(folder, {recursive: true, force: true}));

let files = 0;
transcriptStoreContract('sqlite', () => {
  files += 1;
  return openSqliteStore(join(folder, `contract-${files}.sqlite`));
});

// Appends one record after the other, and prints each number once it is acknowledged. However late it is killed, one page
// holds what it wrote; it never ends by itself.
const WRITER = `
import {openSqliteStore} from ${JSON.stringify(new URL('./sqlite-store.ts', import.meta.url).href)};
const store = openSqliteStore(process.argv[2]);
for (let n = 1; n <= 900; n++) {
  const records = [{time: '2026-01-01T00:00:00Z', kind: 'message', text: 'x'.repeat(2000) + n}];
  await store.append({namespace: 'a', session: {name: 's', uid: 'u'}, source: 'p', epoch: 1, from: n, records});
  process.stdout.write(n + '\\n');
  await new Promise((resolve) => setImmediate(resolve));
}
setInterval(() => {}, 60_000);`;

describe('the archive file', () => {
  it('holds everything that was acknowledged before kill -9, and the chain is whole', async () => {
    const path = join(folder, 'killed.sqlite');
    const script = join(folder, 'writer.ts');
    writeFileSync(script, WRITER);
    const child = spawn(process.execPath, [script, path], {stdio: ['ignore', 'pipe', 'inherit']});
    let acked = 0;
    for await (const line of createInterface({input: child.stdout})) {
      acked = Number(line);
      if (acked === 40) child.kill('SIGKILL');
    }
    const store = openSqliteStore(path);
    const {records} = await store.read({namespace: 'a', sessionUid: 'u', after: 0, limit: 1_000});
    expect(records.length).toBeGreaterThanOrEqual(acked);
    expect(acked).toBeGreaterThanOrEqual(40);
    expect(firstBreak(records, chainStart('a', 'u'))).toBeUndefined();
    const next = {namespace: 'a', session: {name: 's', uid: 'u'}, source: 'p', epoch: 1, from: records.length + 1};
    expect(await store.append({...next, records: []})).toEqual({kind: 'stored', acked: records.length, stored: 0});
    await store.close();
  });

  it('is brought up to date when an older program wrote it, with all that it holds', async () => {
    const path = join(folder, 'older.sqlite');
    const first = openSqliteStore(path);
    await first.append(batchOf(1, ['a', 'b']));
    await first.close();
    const db = new DatabaseSync(path);
    db.exec('ALTER TABLE session DROP COLUMN gone; PRAGMA user_version = 1');
    db.close();
    const store = openSqliteStore(path);
    expect(await store.append(batchOf(3, ['c']))).toEqual({kind: 'stored', acked: 3, stored: 1});
    expect(await store.sessions()).toEqual([{namespace: 'team-a', name: 'one', uid: 'uid-1'}]);
    await store.close();
  });

  it('is refused when a newer program wrote it', () => {
    const path = join(folder, 'newer.sqlite');
    const db = new DatabaseSync(path);
    db.exec('PRAGMA user_version = 99');
    db.close();
    expect(() => openSqliteStore(path)).toThrow('version 99');
  });
});
