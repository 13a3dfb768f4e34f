import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {type FakeApi, startFakeApi} from '../../test/support/fake-api.ts';
import {impatientClock} from '../../test/support/fake-clock.ts';
import {kindOf} from '../../test/support/kube-error.ts';
import {keptLog} from '../../test/support/log.ts';
import {Widgets} from '../../test/support/widgets.ts';
import {createClient} from './client.ts';
import type {Client} from './ports.ts';

const ref = {namespace: 'a', name: 'x'};
let api: FakeApi;
let client: Client;
let log: ReturnType<typeof keptLog>;

beforeEach(async () => {
  api = await startFakeApi();
  log = keptLog();
  client = createClient({
    connection: api.connection,
    fieldManager: 'carrel-test',
    log,
    clock: impatientClock(),
    random: () => 0,
  });
});
afterEach(() => api.close());

describe('faults', () => {
  const times = (n: number, fault: ReturnType<FakeApi['fault']>) => {
    let left = n;
    api.fault = () => (left-- > 0 ? fault : undefined);
  };
  const put = () => api.put(Widgets, {metadata: ref, spec: {}});

  test.each([
    ['broken connections', 'reset'],
    ['503', {status: 503}],
    ['429 with Retry-After', {status: 429, headers: {'retry-after': '1'}}],
  ] as const)('F8 F9 a read survives two times %s', async (_name, fault) => {
    put();
    times(2, fault);
    expect(await kindOf(client.get(Widgets, ref))).toBe('ok');
    expect(api.requests).toHaveLength(3);
  });

  test('F3 a create whose answer is lost is not repeated: the caller is told that nothing is known', async () => {
    times(1, 'lose');
    expect(await kindOf(client.create(Widgets, {metadata: ref, spec: {}}))).toBe('Unavailable');
    expect(api.requests).toHaveLength(1);
    expect(await kindOf(client.create(Widgets, {metadata: ref, spec: {}}))).toBe('AlreadyExists');
  });

  test('a create refused by 429 is repeated: it was not begun', async () => {
    times(1, {status: 429, headers: {'retry-after': '1'}});
    expect(await kindOf(client.create(Widgets, {metadata: ref, spec: {}}))).toBe('ok');
  });

  test('a delete whose answer is lost succeeds when the object is gone', async () => {
    put();
    times(1, 'lose');
    expect(await kindOf(client.delete(Widgets, ref))).toBe('ok');
    expect(api.requests).toHaveLength(2);
  });

  test('a 403 right after a broken connection is tried again, one in quiet times is not', async () => {
    put();
    times(1, {status: 403, body: {kind: 'Status', reason: 'Forbidden', message: 'RBAC'}});
    expect(await kindOf(client.get(Widgets, ref))).toBe('Forbidden');
    let n = 0;
    api.fault = () =>
      n++ === 0 ? 'reset' : n === 2 ? {status: 403, body: {kind: 'Status', message: 'RBAC'}} : undefined;
    api.connection.trouble();
    expect(await kindOf(client.get(Widgets, ref))).toBe('ok');
  });

  test('F49 a refused token is read anew once', async () => {
    put();
    times(1, {status: 401});
    expect(await kindOf(client.get(Widgets, ref))).toBe('ok');
    times(2, {status: 401});
    expect(await kindOf(client.get(Widgets, ref))).toBe('Unauthorized');
  });

  test('an aborted call ends as Aborted', async () => {
    times(1, 'hang');
    expect(await kindOf(client.get(Widgets, ref, {signal: AbortSignal.timeout(20)}))).toBe('Aborted');
  });

  test('a server that never answers ends as Unavailable within the limit', async () => {
    times(9, 'hang');
    expect(await kindOf(client.get(Widgets, ref, {timeoutMs: 50}))).toBe('Unavailable');
  });

  test('F20 a process that was frozen in a pause between two attempts sends nothing more than its limit allows', async () => {
    put();
    const time = impatientClock();
    let slept = 0;
    const after = (ms: number, fn: () => void) => {
      slept = 3_600_000;
      return time.after(ms, fn);
    };
    const clock = {...time, after, monotonic: () => time.monotonic() + slept};
    const frozen = createClient({connection: api.connection, fieldManager: 'test', log, random: () => 0, clock});
    times(1, 'reset');
    expect(await kindOf(frozen.get(Widgets, ref))).toBe('Unavailable');
    expect(api.requests).toHaveLength(1);
  });

  test('warnings of the server are logged', async () => {
    api.fault = () => ({
      status: 200,
      body: {...put(), metadata: put().metadata},
      headers: {warning: '299 - "unknown field \\"spec.bogus\\""'},
    });
    await client.get(Widgets, ref);
    expect(log.lines.filter((l) => l.level === 'warn').map((l) => l.message)).toEqual(['api server warning']);
  });
});
