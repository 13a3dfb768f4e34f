import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, expect, it} from 'vitest';
import {batchOf, message} from '../../test/support/transcript-store-contract.ts';
import {createArchiveClient} from '../archive-client/index.ts';
import {closeGracefully, listen} from '../http/listen.ts';
import {createArchiveServer} from './server.ts';
import {openSqliteStore} from './sqlite-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'carrel-full-'));
afterAll(() => rmSync(folder, {recursive: true, force: true}));

it('a full volume is said as such, keeps what is there readable, and takes records again when there is room', async () => {
  const store = openSqliteStore(join(folder, 'archive.sqlite'), {maxPages: 200});
  const counts = {full: 0, stored: 0};
  const server = createArchiveServer({
    store,
    callers: ['gateway'],
    reviewToken: async () => ({username: 'gateway'}),
    log: {warn: () => undefined, error: () => undefined},
    metrics: {
      stored: () => void counts.stored++,
      gap: () => undefined,
      full: () => void counts.full++,
      answered: () => undefined,
    },
  });
  const url = `http://127.0.0.1:${await listen(server, 0, '127.0.0.1')}`;
  const client = createArchiveClient({url, token: () => 't'});
  const old = {session: {name: 'old', uid: 'uid-0'}};
  await client.append({...batchOf(1, [], old), records: Array.from({length: 80}, () => message('x'.repeat(8_000)))});
  const large = {...batchOf(1, []), records: Array.from({length: 40}, () => message('y'.repeat(8_000)))};
  await expect(client.append(large)).rejects.toMatchObject({
    kind: 'Unavailable',
    message: expect.stringContaining('507 the volume of the archive is full: enlarge it'),
  });
  expect(counts).toEqual({full: 1, stored: 1});
  expect((await client.read({namespace: 'team-a', sessionUid: 'uid-0', after: 0, limit: 100})).records).toHaveLength(
    80,
  );
  expect((await client.read({namespace: 'team-a', sessionUid: 'uid-1', after: 0, limit: 100})).records).toEqual([]);
  await store.markGone({namespace: 'team-a', name: 'old', uid: 'uid-0'}, new Date(0));
  await store.forget(new Date(), 1_000);
  expect(await client.append(large)).toEqual({acked: 40});
  client.close();
  await closeGracefully(server, 0);
  await store.close();
});
