import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest';
import {systemClock} from '../../../src/kube/clock.ts';
import type {Caches} from '../../../src/kube/ports.ts';
import {followWatch} from '../../../src/kube/watch.ts';
import {keptLog} from '../../support/log.ts';
import {startTcpLink, type TcpLink} from '../../support/tcp-link.ts';
import {type Widget, Widgets} from '../../support/widgets.ts';
import {type KubePlace, makePlace, openCaches, openClient} from './place.ts';

const soon = {timeoutMs: 60_000};
let place: KubePlace;
let link: TcpLink;
const open: Caches[] = [];

beforeAll(async () => {
  place = await makePlace();
  link = await startTcpLink(place.connection);
});
afterEach(async () => {
  link.restore();
  await Promise.all(open.splice(0).map((caches) => caches.stop()));
});
afterAll(async () => {
  await link.close();
  await place.remove();
});

const ref = (name: string) => ({namespace: place.namespace, name});
const make = (name: string, size = 1) =>
  place.client.create(Widgets, {metadata: ref(name), spec: {size, body: 'x'.repeat(100)}});
const resize = (name: string, size: number) => place.client.patchSpecMerge(Widgets, ref(name), {spec: {size}});

async function follow(times = {}) {
  const {caches, lists, ends} = openCaches(link.connection, times);
  open.push(caches);
  const cache = caches.add(Widgets, {
    namespace: place.namespace,
    prune: (w) => ({...w, spec: {...w.spec, body: undefined}}),
    indexes: {size: (w) => [String(w.spec.size)]},
  });
  const changes: string[] = [];
  cache.subscribe((c) => changes.push(`${c.old?.metadata.name ?? '-'} -> ${c.new?.metadata.name ?? '-'}`));
  caches.start();
  expect(await caches.whenSynced(soon)).toBe(true);
  const seen = (w: Widget) => cache.waitFor(ref(w.metadata.name), w.metadata.resourceVersion, soon);
  return {cache, lists, ends, changes, seen};
}

describe('a cache of a real API server', () => {
  test('shows own writes, pruned and indexed, over one WatchList', async () => {
    await make('first');
    const {cache, lists, seen} = await follow();
    expect(await seen(await make('second', 7))).toBe(true);
    expect(await seen(await resize('first', 7))).toBe(true);
    expect(cache.byIndex('size', '7')).toHaveLength(2);
    expect(cache.get(ref('first'))).toMatchObject({
      kind: 'Widget',
      apiVersion: 'kube.test/v1',
      spec: {body: undefined},
    });
    await place.client.delete(Widgets, ref('second'));
    expect(await cache.waitUntil(() => cache.get(ref('second')) === undefined || undefined, soon)).toBe(true);
    expect(lists).toEqual(['start']);
  });

  test('is moved on by bookmarks alone while nothing of it changes', async () => {
    const {cache, changes, ends} = await follow();
    const elsewhere = {namespace: 'default', name: place.namespace};
    const other = await place.client.create(Widgets, {metadata: elsewhere, spec: {}});
    expect(await cache.waitFor(elsewhere, other.metadata.resourceVersion, {timeoutMs: 150_000})).toBe(true);
    expect(changes.filter((c) => c.includes(place.namespace))).toEqual([]);
    expect(ends).toEqual([]);
    await place.client.delete(Widgets, elsewhere);
  });

  test('goes on from its version when the connection breaks, and misses nothing', async () => {
    const {cache, lists, changes, seen} = await follow();
    await make('doomed');
    await cache.waitUntil(() => cache.get(ref('doomed')), soon);
    changes.length = 0;
    link.cut();
    await place.client.delete(Widgets, ref('doomed'));
    const born = await make('born-in-the-gap');
    link.restore();
    expect(await seen(born)).toBe(true);
    expect(changes).toEqual(['doomed -> -', '- -> born-in-the-gap']);
    expect(lists).toEqual(['start']);
  });

  test('F14 leaves a frozen connection by its own watchdog', async () => {
    const {seen, ends} = await follow({silenceMs: 2_000});
    link.freeze();
    const written = await make('while-frozen');
    await expect.poll(() => ends, {timeout: 20_000}).toContain('silent');
    link.restore();
    expect(await seen(written)).toBe(true);
  });

  test('a watch from a version that is too old ends as expired', async () => {
    const path = `/apis/kube.test/v1/namespaces/${place.namespace}/widgets?watch=true&resourceVersion=1`;
    const {connection} = place;
    const end = await followWatch({
      connection,
      clock: systemClock,
      log: keptLog(),
      path,
      name: 'widgets',
      signal: AbortSignal.timeout(30_000),
      silenceMs: 30_000,
      opened() {},
      event() {},
    });
    expect(end).toEqual({reason: 'expired'});
  });
});

describe('paging', () => {
  test('510 objects come in two pages, and a token survives or is started over after a compaction', async () => {
    // A few at a time: a call's time limit counts while it waits for a socket, too.
    for (let n = 0; n < 510; n += 15) await Promise.all(Array.from({length: 15}, (_, i) => make(`page-${n + i}`)));
    let pages = 0;
    const nothing = () => {};
    const metrics = {
      cacheSize: nothing,
      relist: nothing,
      watchEnd: nothing,
      queueDepth: nothing,
      reconcile: nothing,
      eventDropped: nothing,
      request: (call: {status: number}) => void (call.status === 200 ? pages++ : 0),
    };
    const client = openClient(place.connection, {metrics});
    const all = await client.list(Widgets, {namespace: place.namespace});
    expect(all.items.filter((w) => w.metadata.name.startsWith('page-'))).toHaveLength(510);
    expect(pages).toBe(2);
    const listing = client.list(Widgets, {namespace: place.namespace});
    await place.cluster.compact();
    expect((await listing).items).toHaveLength(all.items.length);
    await place.cluster.kubectl(['delete', 'widgets', '--all', '-n', place.namespace, '--wait=false']);
  });
});
