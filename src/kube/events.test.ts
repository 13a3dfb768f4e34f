import {afterEach, beforeEach, expect, test} from 'vitest';
import {type FakeApi, startFakeApi} from '../../test/support/fake-api.ts';
import {type FakeClock, fakeClock} from '../../test/support/fake-clock.ts';
import {keptLog} from '../../test/support/log.ts';
import {type Widget, Widgets} from '../../test/support/widgets.ts';
import {Events} from './builtin.ts';
import {createClient} from './client.ts';
import {systemClock} from './clock.ts';
import {createRecorder} from './events.ts';
import type {EventNote, Recorder} from './ports.ts';

let api: FakeApi;
let clock: FakeClock;
let recorder: Recorder;
let widget: Widget;
let log: ReturnType<typeof keptLog>;

beforeEach(async () => {
  api = await startFakeApi();
  clock = fakeClock();
  log = keptLog();
  recorder = open();
  widget = api.put(Widgets, {metadata: {name: 'x', namespace: 'a'}, spec: {}});
});
afterEach(() => api.close());

function open(): Recorder {
  const client = createClient({connection: api.connection, fieldManager: 'test', log});
  return createRecorder({
    client,
    controller: 'kube.test/widget',
    instance: 'pod-1',
    log,
    clock: {...systemClock, now: clock.now, monotonic: clock.monotonic},
  });
}
const note = (more: Partial<EventNote> = {}): EventNote => ({
  regarding: widget,
  type: 'Warning',
  reason: 'ImagePull',
  action: 'Start',
  note: 'no such image',
  ...more,
});
const flush = () => recorder.flush({timeoutMs: 5_000});
const writes = () => api.requests.filter((r) => r.method !== 'GET').map((r) => r.method);

test('an event has everything that events.k8s.io asks for', async () => {
  recorder.record(note());
  await flush();
  const [event] = api.list(Events);
  expect(event).toMatchObject({
    metadata: {namespace: 'a'},
    eventTime: '2026-01-01T00:00:00.000000Z',
    type: 'Warning',
    reason: 'ImagePull',
    action: 'Start',
    note: 'no such image',
    reportingController: 'kube.test/widget',
    reportingInstance: 'pod-1',
    regarding: {kind: 'Widget', apiVersion: 'kube.test/v1', name: 'x', namespace: 'a', uid: widget.metadata.uid},
  });
});

test('repeats are counted in one series, written at most once a minute', async () => {
  for (let n = 0; n < 10; n++) recorder.record(note());
  await flush();
  expect(writes()).toEqual(['POST']);
  await clock.advance(60_000);
  recorder.record(note());
  await flush();
  expect(writes()).toEqual(['POST', 'PATCH']);
  expect(api.list(Events)[0]?.series).toEqual({count: 11, lastObservedTime: '2026-01-01T00:01:00.000000Z'});
});

test('another note is another event, and a long one is cut without breaking a character', async () => {
  recorder.record(note());
  recorder.record(note({note: `${'x'.repeat(1_020)}\u{1F600}\u{1F600}\u{1F600}`}));
  await flush();
  const [, long] = api.list(Events);
  expect(api.list(Events)).toHaveLength(2);
  expect(long?.note?.length).toBeLessThanOrEqual(1_024);
  expect(long?.note?.isWellFormed()).toBe(true);
});

test('after a restart of the process the count goes on', async () => {
  recorder.record(note());
  await flush();
  recorder = open();
  recorder.record(note());
  await flush();
  expect(api.list(Events)).toHaveLength(1);
  expect(api.list(Events)[0]?.series?.count).toBe(2);
});

test('F60 a server that refuses events harms nobody', async () => {
  api.fault = () => ({status: 403, body: {kind: 'Status', message: 'no'}});
  recorder.record(note());
  await flush();
  api.fault = () => undefined;
  recorder.record(note({note: 'later'}));
  await flush();
  expect(api.list(Events)).toHaveLength(1);
});

test.each([
  ['a namespace on its way out is no trouble', {causes: [{reason: 'NamespaceTerminating', message: '', field: ''}]}, 0],
  ['a right that lacks is', {}, 1],
])('%s', async (_what, details, warnings) => {
  api.fault = () => ({status: 403, body: {kind: 'Status', reason: 'Forbidden', message: 'no', details, code: 403}});
  recorder.record(note());
  await flush();
  expect(log.lines.filter((line) => line.level === 'warn')).toHaveLength(warnings);
});

test('one object cannot flood the event store', async () => {
  for (let n = 0; n < 100; n++) recorder.record(note({note: `note ${n}`}));
  await flush();
  expect(api.list(Events)).toHaveLength(25);
  await clock.advance(30_000);
  recorder.record(note({note: 'after a while'}));
  await flush();
  expect(api.list(Events)).toHaveLength(26);
});
