import {afterEach, beforeEach, expect, test} from 'vitest';
import {eventually} from '../../test/support/eventually.ts';
import {type FakeApi, startFakeApi} from '../../test/support/fake-api.ts';
import {keptLog} from '../../test/support/log.ts';
import {Widgets} from '../../test/support/widgets.ts';
import {systemClock} from './clock.ts';
import {followWatch, type WatchEnd, type WatchEvent} from './watch.ts';

let api: FakeApi;
let log: ReturnType<typeof keptLog>;

beforeEach(async () => {
  api = await startFakeApi();
  log = keptLog();
});
afterEach(() => api.close());

function follow(event: (event: WatchEvent) => void, signal = new AbortController().signal): Promise<WatchEnd> {
  return followWatch({
    connection: api.connection,
    clock: systemClock,
    log,
    path: '/apis/kube.test/v1/widgets?watch=true&resourceVersion=1',
    name: 'widgets.kube.test',
    signal,
    silenceMs: 60_000,
    opened() {},
    event,
  });
}
const put = () => api.put(Widgets, {metadata: {name: 'x', namespace: 'a'}, spec: {}});

test('what the reader of an event throws is told as it is, and is no trouble of the connection', async () => {
  put();
  const fault = new Error('a fault of ours');
  const following = follow(() => {
    throw fault;
  });
  await expect(following).rejects.toBe(fault);
  expect(api.connection.sinceTrouble()).toBe(Number.POSITIVE_INFINITY);
  await eventually(() => expect(api.watching()).toBe(0));
});

test.each([
  ['a broken connection', 'break'],
  ['a line that is cut off', 'truncate'],
] as const)('%s ends a watch as broken, and a 403 soon after may be transient', async (_name, how) => {
  put();
  expect(await follow(() => api.endWatches(how))).toEqual({reason: 'broken'});
  expect(api.connection.sinceTrouble()).toBeLessThan(Number.POSITIVE_INFINITY);
});

test('a watch that is stopped is no trouble of the connection', async () => {
  put();
  const stopping = new AbortController();
  expect(await follow(() => stopping.abort(), stopping.signal)).toEqual({reason: 'stopped'});
  expect(api.connection.sinceTrouble()).toBe(Number.POSITIVE_INFINITY);
});

test.each([200, 403])('warnings of the server are logged when a watch is answered with %d', async (status) => {
  api.fault = () => ({status, headers: {warning: '299 - "kube.test/v1 Widget is deprecated"'}});
  await follow(() => {});
  expect(log.lines).toEqual([
    {
      level: 'warn',
      fields: {call: 'WATCH widgets.kube.test', warning: '299 - "kube.test/v1 Widget is deprecated"'},
      message: 'api server warning',
    },
  ]);
});
