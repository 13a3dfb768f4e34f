import type {AddressInfo} from 'node:net';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {batchOf} from '../../test/support/transcript-store-contract.ts';
import {createArchiveClient} from '../archive-client/index.ts';
import {closeGracefully, listen} from '../http/listen.ts';
import {createArchiveServer, MAX_APPEND_BYTES} from './server.ts';
import {openSqliteStore} from './sqlite-store.ts';
import type {TranscriptStore} from './store.ts';

const silent = {warn: () => undefined, error: () => undefined};
const users: Record<string, string> = {
  good: 'system:serviceaccount:carrel:gateway',
  other: 'system:serviceaccount:x:y',
};

describe('archive over HTTP', () => {
  let store: TranscriptStore;
  let server: ReturnType<typeof createArchiveServer>;
  let url: string;
  let verdict: 'given' | 'none' = 'given';

  const start = async (changes: {maxInFlight?: number; store?: TranscriptStore} = {}) => {
    server = createArchiveServer({
      store,
      callers: ['system:serviceaccount:carrel:gateway'],
      reviewToken: async (token, audience) => {
        if (verdict === 'none') throw new Error('API server away');
        const username = audience === 'carrel-archive' ? users[token] : undefined;
        return username === undefined ? undefined : {username};
      },
      log: silent,
      metrics: {stored: () => undefined, gap: () => undefined, full: () => undefined, answered: () => undefined},
      ...changes,
    });
    await listen(server, 0, '127.0.0.1');
    const {port}: AddressInfo = Object.assign({address: '', family: '', port: 0}, server.address());
    url = `http://127.0.0.1:${port}`;
  };
  const clientAs = (token: string) => createArchiveClient({url, token: () => token});

  beforeEach(() => {
    verdict = 'given';
    store = openSqliteStore(':memory:');
  });
  afterEach(async () => {
    await closeGracefully(server, 0);
    await store.close();
  });

  it('appends, reads pages, reads the tail', async () => {
    await start();
    const client = clientAs('good');
    expect(await client.append(batchOf(1, ['a', 'b', 'c']))).toEqual({acked: 3});
    const page = await client.read({namespace: 'team-a', sessionUid: 'uid-1', after: 1, limit: 1});
    expect([page.records.map((r) => r.text), page.next]).toEqual([['b'], 2]);
    const tail = await client.tail({namespace: 'team-a', sessionUid: 'uid-1', bytes: 1});
    expect(tail.records.map((r) => r.n)).toEqual([3]);
    client.close();
  });

  it('tells a gap, with what it has, from everything else', async () => {
    await start();
    await expect(clientAs('good').append(batchOf(5, ['e']))).rejects.toMatchObject({kind: 'Gap', acked: 0});
  });

  const refused = [
    {name: 'a token that is not accepted', token: 'bad', kind: 'Unavailable', text: '401'},
    {
      name: 'a caller who is not on the list',
      token: 'other',
      kind: 'Unavailable',
      text: 'system:serviceaccount:x:y may not',
    },
  ];
  for (const row of refused) {
    it(`refuses ${row.name}`, async () => {
      await start();
      const error = await clientAs(row.token)
        .append(batchOf(1, ['a']))
        .catch((e: unknown) => e);
      expect(error).toMatchObject({kind: row.kind, message: expect.stringContaining(row.text)});
      expect((await store.read({namespace: 'team-a', sessionUid: 'uid-1', after: 0, limit: 1})).records).toEqual([]);
    });
  }

  it('says 503, never 401, when no verdict can be had', async () => {
    await start();
    verdict = 'none';
    const reply = await fetch(`${url}/archive/v1/append`, {method: 'POST', headers: {authorization: 'Bearer good'}});
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await reply.json()).toMatchObject({code: 'no_verdict'});
  });

  it('refuses a body over 8 MiB at its announced length', async () => {
    await start();
    const body = 'x'.repeat(MAX_APPEND_BYTES + 1);
    const reply = await fetch(`${url}/archive/v1/append`, {
      method: 'POST',
      body,
      headers: {authorization: 'Bearer good'},
    });
    expect(reply.status).toBe(413);
    expect(await reply.json()).toMatchObject({code: 'too_large', message: expect.stringContaining('8388608')});
  });

  it('names the field that is wrong in a body', async () => {
    await start();
    const reply = await fetch(`${url}/archive/v1/append`, {
      method: 'POST',
      body: '{"from":0}',
      headers: {authorization: 'Bearer good'},
    });
    expect(reply.status).toBe(400);
    expect(await reply.text()).toContain('from');
  });

  it('asks to come back when the store fails, and stores nothing', async () => {
    await start({store: {...store, append: () => Promise.reject(new Error('disk full'))}});
    await expect(clientAs('good').append(batchOf(1, ['a']))).rejects.toMatchObject({kind: 'Unavailable'});
  });

  it('asks to come back when too much is in flight', async () => {
    await start({maxInFlight: 0});
    await expect(clientAs('good').append(batchOf(1, ['a']))).rejects.toMatchObject({
      kind: 'Unavailable',
      message: expect.stringContaining('too many requests'),
    });
  });

  it('is Unavailable to its callers when nobody listens', async () => {
    await start();
    const client = createArchiveClient({url: 'http://127.0.0.1:1', token: () => 'good'});
    await expect(client.append(batchOf(1, ['a']))).rejects.toMatchObject({name: 'ArchiveError', kind: 'Unavailable'});
  });
});
