import {afterAll, beforeAll, expect, test} from 'vitest';
import {done} from '../../../src/api/outcome.ts';
import {defineController} from '../../../src/kube/controller.ts';
import {createRecorder} from '../../../src/kube/events.ts';
import {writeStatus} from '../../../src/kube/status.ts';
import {keptLog} from '../../support/log.ts';
import {startTcpLink, type TcpLink} from '../../support/tcp-link.ts';
import {type Widget, Widgets} from '../../support/widgets.ts';
import {type KubePlace, makePlace, openCaches, openClient} from './place.ts';

let place: KubePlace;
let link: TcpLink;
beforeAll(async () => {
  place = await makePlace();
  link = await startTcpLink(place.connection);
});
afterAll(async () => {
  await link.close();
  await place.remove();
});

const ref = (name: string) => ({namespace: place.namespace, name});
const make = (name: string) => place.client.create(Widgets, {metadata: ref(name), spec: {size: 1}});

/** The first moments of a new API server answer 429 or nothing: ask again. */
async function eventually<R>(attempt: () => Promise<R>): Promise<R> {
  for (const end = performance.now() + 60_000; ; ) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}

test('F6 F10 after a compaction and a killed API server every cache lists anew: deletes and recreations of the gap are seen, and the controller writes nothing for what is unchanged', async () => {
  for (const name of ['same', 'gone', 'reborn']) await make(name);
  const {caches, lists, ends} = openCaches(link.connection);
  const cache = caches.add(Widgets, {namespace: place.namespace});
  const changes: string[] = [];
  caches.start();
  await caches.whenSynced({timeoutMs: 60_000});
  const log = keptLog();
  let writes = 0;
  const request = (call: {verb: string}) => {
    if (call.verb !== 'GET') writes++;
  };
  const nothing = () => {};
  const metrics = {
    request,
    cacheSize: nothing,
    relist: nothing,
    watchEnd: nothing,
    queueDepth: nothing,
    reconcile: nothing,
    eventDropped: nothing,
  };
  const client = openClient(link.connection, {metrics});
  const events = createRecorder({client, controller: 'kube.test/widget', instance: 'test', log});
  const controller = defineController<Widget>({
    name: 'widget',
    resource: Widgets,
    async reconcile({object, write}) {
      await writeStatus({write, resource: Widgets, object, status: {count: object.spec.size}});
      return done;
    },
  }).start({caches, client, events, log, term: new AbortController().signal});
  const counted = (name: string) => cache.get(ref(name))?.status?.count === 1 || undefined;
  await cache.waitUntil(() => ['same', 'gone', 'reborn'].every(counted) || undefined, {timeoutMs: 60_000});
  await expect.poll(() => writes).toBe(3);
  const old = cache.get(ref('reborn'))?.metadata.uid;
  cache.subscribe((c) => changes.push(`${c.old?.metadata.name ?? '-'} -> ${c.new?.metadata.name ?? '-'}`));

  link.cut();
  for (const name of ['gone', 'reborn']) await place.client.delete(Widgets, ref(name));
  await make('reborn');
  await place.cluster.compact();
  await place.cluster.apiserver.kill();
  await place.cluster.apiserver.start();
  await eventually(() => place.client.get(Widgets, ref('reborn'), {timeoutMs: 5_000}));
  link.restore();

  const reborn = () => (cache.get(ref('reborn'))?.metadata.uid !== old && counted('reborn')) || undefined;
  expect(await cache.waitUntil(reborn, {timeoutMs: 60_000})).toBe(true);
  expect(cache.get(ref('gone'))).toBeUndefined();
  expect(lists).toEqual(['start', 'expired']);
  expect(ends).toContain('expired');
  expect(changes.slice(0, 3).sort()).toEqual(['- -> reborn', 'gone -> -', 'reborn -> -']);
  await expect.poll(() => controller.pending()).toBe(0);
  // Only the new object got a status: the relist wrote nothing else.
  await expect.poll(() => writes).toBe(4);
  await controller.stop();
  await caches.stop();
});
