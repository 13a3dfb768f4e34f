import {afterAll, beforeAll, expect, test} from 'vitest';
import {Leases} from '../../../src/kube/builtin.ts';
import {runLeader} from '../../../src/kube/lease.ts';
import {keptLog} from '../../support/log.ts';
import {startTcpLink} from '../../support/tcp-link.ts';
import {type KubePlace, makePlace, openClient} from './place.ts';

let place: KubePlace;
beforeAll(async () => {
  place = await makePlace();
});
afterAll(() => place.remove());

const times = {leaseMs: 4_000, renewMs: 2_500, retryMs: 400};

async function candidate(identity: string) {
  const link = await startTcpLink(place.connection);
  let terms = 0;
  const leadership = runLeader({
    client: openClient(link.connection, {fieldManager: identity}),
    namespace: place.namespace,
    name: 'leader',
    identity,
    log: keptLog(),
    times,
    started: () => void terms++,
    stopped: async () => {},
  });
  return {link, leadership, terms: () => terms};
}
const holder = async () =>
  (await place.client.get(Leases, {namespace: place.namespace, name: 'leader'})).spec?.holderIdentity;

test('F18 F20 of two candidates one leads; cut off from the server it stops before the other starts; stopping hands over at once', async () => {
  const a = await candidate('a');
  await expect.poll(() => a.leadership.isLeader(), {timeout: 10_000}).toBe(true);
  const b = await candidate('b');
  let together = 0;
  const watch = setInterval(() => {
    if (a.leadership.isLeader() && b.leadership.isLeader()) together++;
  }, 5);
  await expect.poll(async () => [b.leadership.isLeader(), await holder()], {timeout: 10_000}).toEqual([false, 'a']);

  a.link.freeze();
  await expect.poll(() => b.leadership.isLeader(), {timeout: 30_000}).toBe(true);
  expect([a.leadership.isLeader(), await holder()]).toEqual([false, 'b']);

  a.link.restore();
  const before = performance.now();
  await b.leadership.stop();
  await expect.poll(() => a.leadership.isLeader(), {timeout: 10_000}).toBe(true);
  expect(performance.now() - before).toBeLessThan(times.leaseMs);
  expect([a.terms(), b.terms(), await holder()]).toEqual([2, 1, 'a']);

  clearInterval(watch);
  expect(together).toBe(0);
  await a.leadership.stop();
  expect(await holder()).toBe('');
  await Promise.all([a.link.close(), b.link.close()]);
});
