import {describe, expect, it} from 'vitest';
import {batchOf} from '../../test/support/transcript-store-contract.ts';
import {type RetentionParts, startRetention, sweepTranscripts} from './retention.ts';
import {openSqliteStore} from './sqlite-store.ts';

const DAY = 86_400_000;
const silent = {info: () => undefined, warn: () => undefined};

async function world() {
  const store = openSqliteStore(':memory:');
  const alive = new Set(['uid-1', 'uid-2']);
  const clock = {now: 0};
  await store.append(batchOf(1, ['a', 'b']));
  await store.append(batchOf(1, ['c'], {session: {name: 'two', uid: 'uid-2'}}));
  const parts: RetentionParts = {
    store,
    keepMs: 90 * DAY,
    now: () => clock.now,
    after: () => () => undefined,
    log: silent,
    isAlive: async ({uid}) => alive.has(uid),
  };
  const kept = async (sessionUid: string) =>
    (await store.read({namespace: 'team-a', sessionUid, after: 0, limit: 10})).records.length;
  return {store, alive, clock, parts, kept};
}

describe('the sweep of transcripts', () => {
  it('keeps a transcript while its Session is there, however old it is', async () => {
    const {parts, clock, kept} = await world();
    clock.now = 1_000 * DAY;
    expect(await sweepTranscripts(parts)).toBe(0);
    expect([await kept('uid-1'), await kept('uid-2')]).toEqual([2, 1]);
  });

  it('deletes it when its Session is gone for longer than it is kept, and not before', async () => {
    const {parts, clock, alive, kept} = await world();
    alive.delete('uid-1');
    expect(await sweepTranscripts(parts)).toBe(0);
    clock.now = 90 * DAY;
    expect(await sweepTranscripts(parts)).toBe(0);
    clock.now = 90 * DAY + 1;
    expect(await sweepTranscripts(parts)).toBe(2);
    expect([await kept('uid-1'), await kept('uid-2')]).toEqual([0, 1]);
  });

  it('keeps the transcript of a Session that is there again, in a cluster that was restored', async () => {
    const {parts, clock, alive, kept} = await world();
    alive.delete('uid-1');
    await sweepTranscripts(parts);
    alive.add('uid-1');
    clock.now = 1_000 * DAY;
    expect(await sweepTranscripts(parts)).toBe(0);
    expect(await kept('uid-1')).toBe(2);
    alive.delete('uid-1');
    expect(await sweepTranscripts(parts)).toBe(0);
    clock.now += DAY;
    expect(await sweepTranscripts(parts)).toBe(0);
    expect(await kept('uid-1')).toBe(2);
  });

  it('makes room first: on a full volume, where nothing can be remembered, it still deletes', async () => {
    const {parts, store, clock, alive, kept} = await world();
    alive.delete('uid-1');
    await sweepTranscripts(parts);
    alive.delete('uid-2');
    clock.now = 1_000 * DAY;
    const full = {...store, markGone: () => Promise.reject(new Error('database or disk is full'))};
    await expect(sweepTranscripts({...parts, store: full})).rejects.toThrow('full');
    expect([await kept('uid-1'), await kept('uid-2')]).toEqual([0, 1]);
  });

  it('deletes nothing when it cannot know which Sessions there are', async () => {
    const {parts, clock, alive, kept} = await world();
    alive.delete('uid-1');
    await sweepTranscripts(parts);
    clock.now = 1_000 * DAY;
    const blind = {...parts, isAlive: () => Promise.reject(new Error('API server away'))};
    await expect(sweepTranscripts(blind)).rejects.toThrow('API server away');
    expect(await kept('uid-1')).toBe(2);
  });

  it('comes back after a failure, and ends with the process', async () => {
    const {parts} = await world();
    const timers: (() => void)[] = [];
    const warned: string[] = [];
    const stop = startRetention({
      ...parts,
      after(_ms, fn) {
        timers.push(fn);
        return () => void timers.splice(timers.indexOf(fn), 1);
      },
      log: {...silent, warn: (_fields, message) => void warned.push(message)},
      isAlive: () => Promise.reject(new Error('API server away')),
    });
    timers.shift()?.();
    await expect.poll(() => [warned.length, timers.length]).toEqual([1, 1]);
    stop();
    expect(timers).toEqual([]);
  });
});
