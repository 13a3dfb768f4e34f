import {afterEach, beforeEach, expect, test} from 'vitest';
import {eventually} from '../../test/support/eventually.ts';
import {type FakeApi, type SeenRequest, startFakeApi} from '../../test/support/fake-api.ts';
import {type FakeClock, fakeClock, turns} from '../../test/support/fake-clock.ts';
import {keptLog} from '../../test/support/log.ts';
import {Leases} from './builtin.ts';
import {createClient} from './client.ts';
import {runLeader} from './lease.ts';
import type {Leadership} from './ports.ts';

const ref = {namespace: 'carrel', name: 'controller'};
let api: FakeApi;
const running: Leadership[] = [];

beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(async () => {
  api.fault = () => undefined;
  await Promise.all(running.splice(0).map((l) => l.stop()));
  await api.close();
});

function candidate(identity: string, clock: FakeClock = fakeClock(), stopping: () => Promise<void> = async () => {}) {
  const client = createClient({connection: api.connection, fieldManager: identity, log: keptLog()});
  const terms: AbortSignal[] = [];
  let ended = 0;
  const leadership = runLeader({
    client,
    ...ref,
    identity,
    log: keptLog(),
    clock,
    random: () => 0,
    started: (signal) => terms.push(signal),
    stopped: async () => {
      await stopping();
      ended++;
    },
  });
  running.push(leadership);
  return {leadership, clock, terms, ended: () => ended};
}

/** Let time pass in small steps, with room for calls to the server between them. */
async function pass(clocks: FakeClock[], ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 500) {
    for (const clock of clocks) await clock.advance(500);
    await calm();
  }
}
async function calm(): Promise<void> {
  let before = -1;
  const quiet = async () => {
    for (let n = 0; n < 4; n++) await turns();
    const [last, now] = [before, api.requests.length];
    before = now;
    expect(now).toBe(last);
  };
  await eventually(quiet);
}
const holder = () => api.get(Leases, ref)?.spec?.holderIdentity;
const by = (identity: string) => (r: SeenRequest) => r.query.get('fieldManager') === identity || r.method === 'GET';

test('the first one leads, the second one waits', async () => {
  const a = candidate('a');
  await calm();
  const b = candidate('b');
  await pass([a.clock, b.clock], 30_000);
  expect([a.leadership.isLeader(), b.leadership.isLeader(), holder()]).toEqual([true, false, 'a']);
  expect([a.terms.length, b.terms.length]).toEqual([1, 0]);
});

test('a leader that stops releases the lease, and the next one leads within its retry time', async () => {
  const a = candidate('a');
  await calm();
  const b = candidate('b');
  await pass([a.clock, b.clock], 4_000);
  await a.leadership.stop();
  expect([a.ended(), a.terms[0]?.aborted, holder()]).toEqual([1, true, '']);
  await pass([b.clock], 2_500);
  expect([b.leadership.isLeader(), holder(), api.get(Leases, ref)?.spec?.leaseTransitions]).toEqual([true, 'b', 1]);
});

test('a leader that stops in order leads until what runs has ended, but no longer than it could without renewing', async () => {
  const {promise, resolve} = Promise.withResolvers<void>();
  const a = candidate('a', fakeClock(), () => promise);
  await calm();
  const stopped = a.leadership.stop();
  await calm();
  expect([a.leadership.isLeader(), a.terms[0]?.aborted, holder()]).toEqual([true, false, 'a']);
  resolve();
  await stopped;
  expect([a.leadership.isLeader(), a.terms[0]?.aborted, holder()]).toEqual([false, true, '']);
});

test('a leader whose work does not end steps down in time all the same', async () => {
  const {promise, resolve} = Promise.withResolvers<void>();
  const a = candidate('a', fakeClock(), () => promise);
  await calm();
  const stopped = a.leadership.stop();
  await pass([a.clock], 15_000);
  expect([a.leadership.isLeader(), a.terms[0]?.aborted]).toEqual([false, true]);
  resolve();
  await stopped;
});

test('F18 a leader that cannot renew stops before anybody else may start', async () => {
  const a = candidate('a');
  await calm();
  const b = candidate('b');
  await pass([a.clock, b.clock], 4_000);
  let blocked = true;
  // Only the leader is cut off: its writes, and by that its renewals.
  api.fault = (r) => (blocked && r.method === 'PATCH' && by('a')(r) ? {status: 500} : undefined);
  let bothLead = false;
  let aStopped = -1;
  let bStarted = -1;
  for (let at = 0; at < 40_000; at += 500) {
    await pass([a.clock, b.clock], 500);
    bothLead ||= a.leadership.isLeader() && b.leadership.isLeader();
    if (aStopped < 0 && !a.leadership.isLeader()) aStopped = at;
    if (bStarted < 0 && b.leadership.isLeader()) bStarted = at;
  }
  expect(bothLead).toBe(false);
  expect(a.terms[0]?.aborted).toBe(true);
  expect(aStopped).toBeGreaterThan(0);
  expect(bStarted).toBeGreaterThan(aStopped);
  blocked = false;
});

test('F20 a process that was frozen knows at once that it leads no more, before any timer has run', async () => {
  const clock = fakeClock();
  let jump = 0;
  const a = candidate('a', {...clock, monotonic: () => clock.monotonic() + jump});
  await calm();
  expect(a.leadership.isLeader()).toBe(true);
  jump = 60_000;
  expect(a.leadership.isLeader()).toBe(false);
});

test('F21 a wrong wall clock does not make a lease expire early: only the own time of seeing counts', async () => {
  api.put(Leases, {
    metadata: ref,
    spec: {holderIdentity: 'old', leaseDurationSeconds: 15, renewTime: '2020-01-01T00:00:00.000000Z'},
  });
  const a = candidate('a');
  await pass([a.clock], 14_000);
  expect(a.leadership.isLeader()).toBe(false);
  await pass([a.clock], 4_000);
  expect([a.leadership.isLeader(), holder()]).toEqual([true, 'a']);
});

test('a leader whose lease was taken stops, and may lead again later', async () => {
  const a = candidate('a');
  await calm();
  api.put(Leases, {metadata: ref, spec: {holderIdentity: 'thief', leaseDurationSeconds: 4}});
  await pass([a.clock], 3_000);
  expect([a.leadership.isLeader(), a.terms[0]?.aborted, a.ended()]).toEqual([false, true, 1]);
  await pass([a.clock], 10_000);
  expect([a.leadership.isLeader(), a.terms.length]).toEqual([true, 2]);
});
