import {readFileSync} from 'node:fs';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {type FakeApi, startFakeApi} from '../../test/support/fake-api.ts';
import {type FakeClock, fakeClock} from '../../test/support/fake-clock.ts';
import {keptLog} from '../../test/support/log.ts';
import {type Widget, Widgets} from '../../test/support/widgets.ts';
import {createCaches} from './cache.ts';
import {unready} from './cut-off.ts';
import type {Cache, Caches} from './ports.ts';

it.each([
  ['still reads', {synced: false, deafMs: 0}, 'reading the objects of the cluster'],
  ['hears', {synced: true, deafMs: 0}, undefined],
  ['opens its watches again', {synced: true, deafMs: 19_999}, undefined],
  ['reaches the API server no longer', {synced: true, deafMs: 61_400}, 'no watch on the API server for 61 s'],
])('a process that %s', (_state, {synced, deafMs}, says) => {
  expect(unready({synced: () => synced, deafMs: () => deafMs})).toBe(says);
});

describe('a cache', () => {
  let api: FakeApi;
  let clock: FakeClock;
  let caches: Caches;
  let cache: Cache<Widget>;

  beforeEach(async () => {
    api = await startFakeApi();
    clock = fakeClock();
    caches = createCaches({connection: api.connection, log: keptLog(), random: () => 0, clock});
    cache = caches.add(Widgets);
    caches.start();
    await expect.poll(() => cache.fresh()).toBe(true);
  });
  afterEach(async () => {
    await caches.stop();
    await api.close();
  });

  it('says for how long it had no watch, until it has one again', async () => {
    await clock.advance(60_000);
    expect([cache.deafMs(), caches.deafMs()]).toEqual([0, 0]);
    api.fault = () => ({status: 503});
    api.endWatches('break');
    await expect.poll(() => cache.fresh()).toBe(false);
    await clock.advance(30_000);
    expect(caches.deafMs()).toBe(30_000);
    api.fault = () => undefined;
    await expect.poll(async () => [await clock.advance(1_000), caches.deafMs()][1]).toBe(0);
  });

  it('lists anew at once when the server is back and says that its version is gone', async () => {
    const passing = async (until: () => boolean): Promise<number> => {
      const began = clock.monotonic();
      await expect.poll(async () => [await clock.advance(100), until()][1]).toBe(true);
      return clock.monotonic() - began;
    };
    api.fault = () => ({status: 503});
    api.endWatches('break');
    await expect.poll(async () => [await clock.advance(5_000), api.requests.length][1]).toBeGreaterThan(10);
    let gone = 0;
    const answer = {status: 410, body: {kind: 'Status', reason: 'Expired', message: 'too old', code: 410}};
    api.fault = () => (gone++ === 0 ? answer : undefined);
    await passing(() => gone > 0);
    expect(await passing(() => cache.fresh())).toBeLessThan(2_000);
  });

  it('has the socket of its watch probed: a path that drops what it gets would end no watch for minutes', () => {
    const port = Number(api.connection.server.port).toString(16).toUpperCase().padStart(4, '0');
    // Local address, remote address, state 01 = established, queues, and which timer runs: 02 = that of the probes.
    const probed = new RegExp(`^ *\\d+: \\S+ 0100007F:${port} 01 \\S+ 02:`, 'gm');
    expect(readFileSync('/proc/net/tcp', 'utf8').match(probed)).toHaveLength(1);
  });
});
